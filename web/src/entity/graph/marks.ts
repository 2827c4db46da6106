import type { Readiness } from "../facts";
import type { Point } from "./arrange";
import type { Node } from "./gather";
import { size } from "./sizes";

// Marks are the nodes of a zoomed-out block: one path per readiness, so that thousands are cheap.
export type Marks = { readiness: Readiness | "none"; path: string }[];

const radius = 24;

function circle(x: number, y: number, r: number, sweep: 0 | 1): string {
  return `M${x - r} ${y}a${r} ${r} 0 1 ${sweep} ${2 * r} 0a${r} ${r} 0 1 ${sweep} ${-2 * r} 0z`;
}

function shape(readiness: Readiness | "none", x: number, y: number): string {
  const [r, t] = [radius, 9];
  switch (readiness) {
    case "ready":
      return circle(x, y, r, 0);
    case "not ready":
      // A cross.
      return `M${x - r} ${y - r + t}l${t} ${-t} ${r - t} ${r - t} ${r - t} ${t - r} ${t} ${t} ${t - r} ${r - t} ${r - t} ${r - t} ${-t} ${t} ${t - r} ${t - r} ${t - r} ${r - t} ${-t} ${-t} ${r - t} ${t - r}z`;
    case "unknown":
      // A ring: the inner circle is drawn the other way round.
      return `${circle(x, y, r, 0)}${circle(x, y, r - t, 1)}`;
    case "none":
      return `M${x - 2 * r} ${y - r}h${4 * r}v${2 * r}h${-4 * r}z`;
  }
}

// marksOf draws the nodes of a block relative to its corner.
export function marksOf(nodes: Node[], points: Record<string, Point>, corner: Point): Marks {
  const paths = new Map<Readiness | "none", string[]>();
  for (const node of nodes) {
    const at = points[node.ref];
    if (!at) {
      continue;
    }
    const readiness = node.readiness ?? "none";
    const part = shape(readiness, Math.round(at.x - corner.x + size.width / 2), Math.round(at.y - corner.y + size.height / 2));
    const parts = paths.get(readiness);
    if (parts) {
      parts.push(part);
    } else {
      paths.set(readiness, [part]);
    }
  }
  return [...paths].map(([readiness, parts]) => ({ readiness, path: parts.join("") }));
}
