// Line is a line of a comparison: in both texts, only in the old one, or only in the new one.
export type Line = { what: "same" | "old" | "new"; text: string };

// furthest is how many lines may differ for the shortest way from one text to the other to be looked for. Beyond that all of
// the old is taken away, and all of the new put in its place.
const furthest = 1_000;

// linesOf cuts a text into lines. The end of the last line is no line of its own.
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

// compare says how one text becomes another, line by line. A text that is not there has no lines.
export function compare(before: string | undefined, after: string | undefined): Line[] {
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

// shortest finds the way with the fewest lines taken away and put in: Myers' algorithm.
function shortest(old: string[], next: string[]): Line[] {
  const replaced = (): Line[] => [...old.map<Line>((text) => ({ what: "old", text })), ...next.map<Line>((text) => ({ what: "new", text }))];
  if (old.length === 0 || next.length === 0) {
    return replaced();
  }
  const most = Math.min(old.length + next.length, furthest);
  // reach is how far one gets in the old text on each diagonal; trail is what it was before each step.
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

// back walks from the end of both texts to their beginning.
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

// Part is some lines of a comparison, or how many that are the same are left out.
export type Part = { lines: Line[]; skipped: number };

// around is how many lines are shown before and after what differs.
const around = 3;
// fewest is how many lines are shown rather than left out.
const fewest = 3;

// parts leaves out what is the same, but for some lines around what is not.
export function parts(lines: Line[]): Part[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.what !== "same") {
      near.fill(1, Math.max(0, i - around), i + around + 1);
    }
  });
  // To say that a line or two are left out takes as much room as they do.
  for (let i = 0, from = 0; i <= lines.length; i++) {
    if (i === lines.length || near[i]) {
      if (i - from <= fewest) {
        near.fill(1, from, i);
      }
      from = i + 1;
    }
  }
  const out: Part[] = [];
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
