import { describe, expect, it } from "vitest";
import type { Arranged } from "./arrange";
import { fitting, readable, startAt } from "./view";

const graph = (width: number, height: number): Arranged => ({ points: {}, blocks: [], edges: [], width, height });

describe("the first view of a graph", () => {
  it.each([
    ["a graph that fits", { width: 1200, height: 600 }, graph(800, 300), true],
    ["a graph that would be too small to read", { width: 1200, height: 600 }, graph(2400, 300), false],
    ["a graph on a phone", { width: 358, height: 400 }, graph(660, 300), false],
  ])("shows %s", (_, area, arranged, whole) => {
    expect(fitting(area, arranged) >= readable).toBe(whole);
  });

  it("does not enlarge a small graph", () => {
    expect(fitting({ width: 1200, height: 600 }, graph(300, 100))).toBe(1);
  });

  const area = { width: 900, height: 450 };

  it.each([
    ["in the middle, with room for what precedes it", { x: 2000, y: 1000 }, graph(5000, 4000), { x: 2000 + 1000 / 6, y: 1032 }],
    ["at the left, without showing what is beyond the graph", { x: 20, y: 20 }, graph(5000, 4000), { x: 500, y: 250 }],
    ["at the right, with what precedes it", { x: 4700, y: 3900 }, graph(5000, 4000), { x: 4500, y: 3750 }],
    ["in a low graph, which is centered", { x: 2000, y: 20 }, graph(5000, 100), { x: 2000 + 1000 / 6, y: 50 }],
  ])("starts at a node %s", (_, at, arranged, want) => {
    const got = startAt(at, area, arranged);
    expect(got.x).toBeCloseTo(want.x);
    expect(got.y).toBeCloseTo(want.y);
  });
});
