// Line is a line of a diff: in both texts, only in the old one, or only in the new one.
export type Line = { what: "same" | "old" | "new"; text: string };

// furthest is the maximum edit distance to search for. Beyond it, the diff removes all old lines and adds all new ones.
const furthest = 1_000;

// linesOf splits a text into lines. A trailing newline does not start another line.
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

// diffLines returns the line diff of two texts. A missing text has no lines.
export function diffLines(before: string | undefined, after: string | undefined): Line[] {
  const old = linesOf(before ?? "");
  const next = linesOf(after ?? "");
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) {
    head++;
  }
  let tail = 0;
  while (tail < old.length - head && tail < next.length - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) {
    tail++;
  }
  const same = (lines: string[]) => lines.map<Line>((text) => ({ what: "same", text }));
  return [...same(old.slice(0, head)), ...shortest(old.slice(head, old.length - tail), next.slice(head, next.length - tail)), ...same(old.slice(old.length - tail))];
}

// shortest returns the diff with the fewest changes: Myers' algorithm.
function shortest(old: string[], next: string[]): Line[] {
  const replaced = (): Line[] => [...old.map<Line>((text) => ({ what: "old", text })), ...next.map<Line>((text) => ({ what: "new", text }))];
  if (old.length === 0 || next.length === 0) {
    return replaced();
  }
  const most = Math.min(old.length + next.length, furthest);
  // reach is the furthest position in the old text on each diagonal; trail holds a copy of it before each step.
  const reach = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  const at = (map: Map<number, number>, k: number) => map.get(k) ?? -1;
  const down = (map: Map<number, number>, k: number, d: number) => k === -d || (k !== d && at(map, k - 1) < at(map, k + 1));
  for (let d = 0; d <= most; d++) {
    trail.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      let x = down(reach, k, d) ? at(reach, k + 1) : at(reach, k - 1) + 1;
      while (x < old.length && x - k < next.length && old[x] === next[x - k]) {
        x++;
      }
      reach.set(k, x);
      if (x >= old.length && x - k >= next.length) {
        return back(old, next, trail, down, at);
      }
    }
  }
  return replaced();
}

// back walks from the end of both texts to their start.
function back(old: string[], next: string[], trail: Map<number, number>[], down: (m: Map<number, number>, k: number, d: number) => boolean, at: (m: Map<number, number>, k: number) => number): Line[] {
  const out: Line[] = [];
  let x = old.length;
  let y = next.length;
  for (let d = trail.length - 1; d >= 0; d--) {
    const map = trail[d]!;
    const k = x - y;
    const from = down(map, k, d) ? k + 1 : k - 1;
    const fromX = at(map, from);
    const fromY = fromX - from;
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0)) {
      out.push({ what: "same", text: old[--x]! });
      y--;
    }
    if (d > 0) {
      out.push(x === fromX ? { what: "new", text: next[--y]! } : { what: "old", text: old[--x]! });
    }
  }
  return out.reverse();
}

// Hunk is a group of lines of a diff, or the number of unchanged lines left out.
export type Hunk = { lines: Line[]; skipped: number };

// around is the number of context lines.
const around = 3;
// fewest is the number of unchanged lines that are shown rather than left out.
const fewest = 3;

// hunks leaves out unchanged lines, except for some context.
export function hunks(lines: Line[]): Hunk[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.what !== "same") {
      near.fill(1, Math.max(0, i - around), i + around + 1);
    }
  });
  // A note about one or two skipped lines takes as much space as the lines.
  for (let i = 0, from = 0; i <= lines.length; i++) {
    if (i === lines.length || near[i]) {
      if (i - from <= fewest) {
        near.fill(1, from, i);
      }
      from = i + 1;
    }
  }
  const out: Hunk[] = [];
  lines.forEach((line, i) => {
    const last = out.at(-1);
    if (near[i]) {
      if (!last || last.skipped > 0) {
        out.push({ lines: [line], skipped: 0 });
      } else {
        last.lines.push(line);
      }
    } else if (last && last.skipped > 0) {
      last.skipped++;
    } else {
      out.push({ lines: [], skipped: 1 });
    }
  });
  return out;
}
