// Lines is the part of the editor's document that rangeOf needs.
export type Lines = { lines: number; line(n: number): { from: number; to: number; text: string } };

// rangeOf returns the range to underline for a finding: the value at its column, or the whole line. The text may have
// become shorter since.
export function rangeOf(doc: Lines, line: number, column: number): { from: number; to: number } {
  const l = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const from = Math.min(l.from + Math.max(column - 1, 0), l.to);
  const rest = l.text.slice(from - l.from);
  const length = /^[^\s#,[\]{}:][^#,[\]{}]*?(?=\s*(?:[,\]}#:]|$))/.exec(rest)?.[0].length ?? rest.trimEnd().length;
  if (length > 0) {
    return { from, to: from + length };
  }
  return { from: l.from, to: l.to };
}
