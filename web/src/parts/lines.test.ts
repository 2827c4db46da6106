import { describe, expect, it } from "vitest";
import { compare, parts } from "./lines";

// written is a comparison as people know it.
function written(before: string | undefined, after: string | undefined): string {
  return compare(before, after)
    .map((l) => ({ same: " ", old: "-", new: "+" })[l.what] + l.text)
    .join("\n");
}

describe("a comparison", () => {
  it.each([
    ["a line that changes", "a\nb\nc\n", "a\nx\nc\n", " a\n-b\n+x\n c"],
    ["a line that is put in", "a\nc\n", "a\nb\nc\n", " a\n+b\n c"],
    ["a line that goes", "a\nb\nc\n", "a\nc\n", " a\n-b\n c"],
    ["a text that is new", undefined, "a\nb\n", "+a\n+b"],
    ["a text that goes", "a\nb\n", undefined, "-a\n-b"],
    ["the same", "a\nb", "a\nb", " a\n b"],
    ["nothing at all", "", "", ""],
    ["several places", "a\nb\nc\nd\ne\nf\n", "b\nc\nX\nd\nf\ng\n", "-a\n b\n c\n+X\n d\n-e\n f\n+g"],
    ["lines that stand elsewhere", "a\nb\n", "b\na\n", "-a\n b\n+a"],
  ])("of %s", (_, before, after, want) => {
    expect(written(before, after)).toBe(want);
  });

  it("always leads from one text to the other", () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
    for (let turn = 0; turn < 200; turn++) {
      const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]);
      const [a, b] = [text(), text()];
      const lines = compare(a.join("\n"), b.join("\n"));
      expect(lines.filter((l) => l.what !== "new").map((l) => l.text)).toEqual(a);
      expect(lines.filter((l) => l.what !== "old").map((l) => l.text)).toEqual(b);
    }
  });

  it("of long texts that have nothing in common is quick", () => {
    const text = (word: string) => Array.from({ length: 5_000 }, (_, i) => `${word} ${i}`).join("\n");
    const began = performance.now();
    expect(compare(text("a"), text("b"))).toHaveLength(10_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("leaves out what is the same", () => {
    const text = Array.from({ length: 100 }, (_, i) => String(i));
    const next = [...text];
    next[50] = "x";
    expect(parts(compare(text.join("\n"), next.join("\n"))).map((p) => (p.skipped > 0 ? p.skipped : p.lines.length))).toEqual([47, 8, 46]);
    next[40] = "y";
    expect(parts(compare(text.join("\n"), next.join("\n"))).map((p) => (p.skipped > 0 ? p.skipped : p.lines.length))).toEqual([37, 19, 46]);
  });
});
