import { describe, expect, it, test } from "vitest";
import { arrange, type Arranged, type Plan, type Point } from "./arrange";
import type { Box } from "./route";
import { size } from "./sizes";

// star returns a group with members of three kinds.
function star(count: number): Plan {
  const kinds = ["Template", "API", "resource"];
  const members = Array.from({ length: count }, (_, i) => ({ ref: `m${i}`, title: `m${i}`, group: kinds[i % 3]! }));
  return { nodes: [{ ref: "group", title: "group" }, ...members], edges: members.map((m) => ({ from: "group", to: m.ref })), root: "group" };
}

// random returns a number between 0 and 1 that depends on the seed only.
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

// graph returns a random graph of 30 nodes; without cycles if edges lead to later nodes only.
function graph(seed: number, edges: number, cyclic = false): Plan {
  const next = random(seed);
  const refs = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const all = Array.from({ length: edges }, () => [Math.floor(next() * 30), Math.floor(next() * 30)].sort((a, b) => (cyclic ? 0 : a - b)) as [number, number]);
  return { nodes: refs.map((ref) => ({ ref, title: ref })), edges: all.filter(([a, b]) => a !== b).map(([a, b]) => ({ from: refs[a]!, to: refs[b]! })), root: "n0" };
}

function boxesOf({ points, blocks }: Arranged): Omit<Box, "column">[] {
  return [...Object.entries(points).map(([id, at]) => ({ id, ...at, ...size })), ...blocks.map(({ id, x, y, width, height }) => ({ id, x, y, width, height }))];
}

type Area = Omit<Box, "column" | "id">;

// hits reports whether a straight line crosses an area: it cuts the line at the sides of the area.
function hits(a: Point, b: Point, { x, y, width, height }: Area): boolean {
  let [from, to] = [0, 1];
  const sides: [way: number, room: number][] = [
    [a.x - b.x, a.x - x - 1],
    [b.x - a.x, x + width - 1 - a.x],
    [a.y - b.y, a.y - y - 1],
    [b.y - a.y, y + height - 1 - a.y],
  ];
  for (const [way, room] of sides) {
    if (way === 0 && room < 0) {
      return false;
    }
    if (way < 0) {
      from = Math.max(from, room / way);
    } else if (way > 0) {
      to = Math.min(to, room / way);
    }
  }
  return from <= to;
}

// drawn returns a line as it is drawn: points on its curves.
function drawn(points: Point[]): Point[] {
  return points.slice(1).flatMap((p, i) => {
    const before = points[i]!;
    const half = (before.x + p.x) / 2;
    return [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].map((t) => {
      const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
      return { x: a * before.x + (b + c) * half + d * p.x, y: (a + b) * before.y + (c + d) * p.y };
    });
  });
}

// crossings returns the edges that cross a node which they do not end at.
function crossings(arranged: Arranged): string[] {
  const boxes = boxesOf(arranged);
  const inside = new Map(arranged.blocks.flatMap((b) => b.refs.map((ref) => [ref, b.id] as const)));
  return arranged.edges.flatMap((e) => {
    const lines = [e.points, drawn(e.points)];
    return boxes
      .filter((b) => ![e.from, e.to].includes(b.id) && ![e.from, e.to].includes(inside.get(b.id) ?? ""))
      .filter((b) => lines.some((line) => line.slice(1).some((p, i) => hits(line[i]!, p, b))))
      .map((b) => `${e.from} > ${e.to} crosses ${b.id}`);
  });
}

test("crossings finds straight lines through nodes", () => {
  const arranged = arrange({ nodes: ["a", "b", "c"].map((ref) => ({ ref, title: ref })), edges: [{ from: "a", to: "b" }, { from: "b", to: "c" }, { from: "a", to: "c" }], root: "a" });
  const middle = (ref: string) => ({ x: arranged.points[ref]!.x + size.width / 2, y: arranged.points["b"]!.y + size.height / 2 });
  expect(crossings(arranged)).toEqual([]);
  expect(crossings({ ...arranged, edges: [{ from: "a", to: "c", points: [middle("a"), middle("c")] }] })).toEqual(["a > c crosses b"]);
});

describe("routeEdges", () => {
  it.each([5, 30, 200])("crosses no node of a group with %i members", (count) => {
    const arranged = arrange(star(count));
    expect(arranged.edges.length).toBe(count === 5 ? 5 : 3);
    expect(crossings(arranged)).toEqual([]);
  });

  it.each(Array.from({ length: 20 }, (_, i) => [i + 1, 20 + 3 * i] as const))("crosses no node of random graph %i with %i edges", (seed, edges) => {
    expect(crossings(arrange(graph(seed, edges)))).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5])("crosses no node of random graph %i with cycles", (seed) => {
    expect(crossings(arrange(graph(seed, 50, true)))).toEqual([]);
  });

  it("begins and ends at the sides of the nodes", () => {
    const { points, edges } = arrange(star(3));
    for (const e of edges) {
      expect(e.points[0]).toEqual({ x: points["group"]!.x + size.width, y: points["group"]!.y + size.height / 2 });
      expect(e.points.at(-1)).toEqual({ x: points[e.to]!.x, y: points[e.to]!.y + size.height / 2 });
    }
  });

  it("draws blocks of one kind each", () => {
    const { blocks } = arrange(star(30));
    expect(blocks.map((b) => b.id)).toEqual(["after Template group", "after API group", "after resource group"]);
    expect(blocks.map((b) => b.refs.length)).toEqual([10, 10, 10]);
  });
});
