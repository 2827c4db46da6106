import { expect, it } from "vitest";
import { rangeOf, type Lines } from "./range";

function lines(text: string): Lines {
  const all = text.split("\n");
  return {
    lines: all.length,
    line: (n) => {
      const from = all.slice(0, n - 1).reduce((sum, l) => sum + l.length + 1, 0);
      const line = all[n - 1] ?? "";
      return { from, to: from + line.length, text: line };
    },
  };
}

const text = "kind: XRD\n  type: strin # not a type\n  required: [size, color]\n\n";

it.each([
  ["a value", 2, 9, "strin"],
  ["a key", 1, 1, "kind"],
  ["an item of a list", 3, 20, "color"],
  ["beyond the end of a line", 1, 99, "kind: XRD"],
  ["beyond the end of the text", 99, 1, ""],
  ["before its beginning", 0, 0, "kind"],
])("underlines %s", (_, line, column, want) => {
  const { from, to } = rangeOf(lines(text), line, column);
  expect(text.slice(from, to)).toBe(want);
});
