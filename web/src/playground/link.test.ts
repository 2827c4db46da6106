import { describe, expect, it } from "vitest";
import { hashOf, maxPackedLength, maxTextBytes, pack, packedIn, TextTooLong, unpack } from "./link";
import { examples } from "./examples";

// noise returns text that compresses badly.
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
    ["other scripts and symbols", "description: 'größer – 価格 🚀 <script>alert(1)</script>'\n"],
    ["an example", examples[0]!.text],
    ["a text that compresses well", "a: 1\n".repeat(100_000)],
  ])("round-trips %s", async (_, text) => {
    const packed = await pack(text);
    expect(packed).toMatch(/^[\w-]*$/);
    expect(await unpack(packed)).toBe(text);
    if (packed !== "") {
      expect(packedIn(hashOf(packed))).toBe(packed);
    }
  });

  it("rejects a text that is too long", async () => {
    await expect(pack(noise(4 * maxPackedLength))).rejects.toThrow(TextTooLong);
    await expect(unpack("A".repeat(maxPackedLength + 1))).rejects.toThrow(TextTooLong);
  });

  it("rejects a decompression bomb", async () => {
    const bomb = await pack("a".repeat(8 * maxTextBytes));
    expect(bomb.length).toBeLessThan(maxPackedLength);
    await expect(unpack(bomb)).rejects.toThrow(TextTooLong);
  });

  it.each(["AAAA", "_____", "a"])("rejects the invalid input %s", async (packed) => {
    await expect(unpack(packed)).rejects.toThrow();
  });

  it.each(["", "#", "#xrd=", "#other=AAAA", "#xrd=a b", "#xrd=a&b"])("finds no text in %j", (hash) => {
    expect(packedIn(hash)).toBeUndefined();
  });
});
