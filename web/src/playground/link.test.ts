import { describe, expect, it } from "vitest";
import { hashOf, mostPacked, mostText, pack, packedIn, TooLong, unpack } from "./link";
import { examples } from "./examples";

// noise is text that cannot be packed much.
function noise(length: number): string {
  let seed = 1;
  let text = "";
  while (text.length < length) {
    seed = (seed * 48271) % 2147483647;
    text += seed.toString(36);
  }
  return text;
}

describe("a link", () => {
  it.each([
    ["nothing", ""],
    ["a line", "kind: CompositeResourceDefinition\n"],
    ["other scripts and signs", "description: 'größer – 価格 🚀 <script>alert(1)</script>'\n"],
    ["an example", examples[0]!.text],
    ["what packs well", "a: 1\n".repeat(100_000)],
  ])("brings back %s", async (_, text) => {
    const packed = await pack(text);
    expect(packed).toMatch(/^[\w-]*$/);
    expect(await unpack(packed)).toBe(text);
    if (packed !== "") {
      expect(packedIn(hashOf(packed))).toBe(packed);
    }
  });

  it("says that a text is too long", async () => {
    await expect(pack(noise(4 * mostPacked))).rejects.toThrow(TooLong);
    await expect(unpack("A".repeat(mostPacked + 1))).rejects.toThrow(TooLong);
  });

  it("does not unpack a bomb", async () => {
    const bomb = await pack("a".repeat(8 * mostText));
    expect(bomb.length).toBeLessThan(mostPacked);
    await expect(unpack(bomb)).rejects.toThrow(TooLong);
  });

  it.each(["AAAA", "_____", "a"])("refuses %s, which nobody packed", async (packed) => {
    await expect(unpack(packed)).rejects.toThrow();
  });

  it.each(["", "#", "#xrd=", "#other=AAAA", "#xrd=a b", "#xrd=a&b"])("finds no text in %j", (hash) => {
    expect(packedIn(hash)).toBeUndefined();
  });
});
