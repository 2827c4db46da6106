import { describe, expect, it } from "vitest";
import { diffLines, hunks } from "./diffLines";

// written formats a diff with - and + prefixes.
function written(before: string | undefined, after: string | undefined): string {
  return diffLines(before, after)
    .map((l) => ({ same: " ", old: "-", new: "+" })[l.what] + l.text)
    .join("\n");
}

describe("diffLines", () => {
  it.each([
    ["a changed line", "a\nb\nc\n", "a\nx\nc\n", " a\n-b\n+x\n c"],
    ["an added line", "a\nc\n", "a\nb\nc\n", " a\n+b\n c"],
    ["a removed line", "a\nb\nc\n", "a\nc\n", " a\n-b\n c"],
    ["a new text", undefined, "a\nb\n", "+a\n+b"],
    ["a removed text", "a\nb\n", undefined, "-a\n-b"],
    ["equal texts", "a\nb", "a\nb", " a\n b"],
    ["empty texts", "", "", ""],
    ["several changes", "a\nb\nc\nd\ne\nf\n", "b\nc\nX\nd\nf\ng\n", "-a\n b\n c\n+X\n d\n-e\n f\n+g"],
    ["moved lines", "a\nb\n", "b\na\n", "-a\n b\n+a"],
  ])("compares %s", (_, before, after, want) => {
    expect(written(before, after)).toBe(want);
  });

  it("reproduces both texts", () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
    for (let turn = 0; turn < 200; turn++) {
      const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]);
      const [a, b] = [text(), text()];
      const lines = diffLines(a.join("\n"), b.join("\n"));
      expect(lines.filter((l) => l.what !== "new").map((l) => l.text)).toEqual(a);
      expect(lines.filter((l) => l.what !== "old").map((l) => l.text)).toEqual(b);
    }
  });

  it("is fast for long texts without common lines", () => {
    const text = (word: string) => Array.from({ length: 5_000 }, (_, i) => `${word} ${i}`).join("\n");
    const began = performance.now();
    expect(diffLines(text("a"), text("b"))).toHaveLength(10_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("hunks leaves out unchanged lines", () => {
    const text = Array.from({ length: 100 }, (_, i) => String(i));
    const next = [...text];
    next[50] = "x";
    expect(hunks(diffLines(text.join("\n"), next.join("\n"))).map((p) => (p.skipped > 0 ? p.skipped : p.lines.length))).toEqual([47, 8, 46]);
    next[40] = "y";
    expect(hunks(diffLines(text.join("\n"), next.join("\n"))).map((p) => (p.skipped > 0 ? p.skipped : p.lines.length))).toEqual([37, 19, 46]);
  });
});
