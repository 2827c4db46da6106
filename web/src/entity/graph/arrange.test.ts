import { describe, expect, it } from "vitest";
import { arrange, type Arranged, type Plan } from "./arrange";
import { nearest, step } from "./keys";
import { few, size } from "./sizes";

// star returns a definition with a composition and a number of its resources.
function star(count: number): Plan {
  const leaves = Array.from({ length: count }, (_, i) => `r${i}`);
  return {
    nodes: ["definition", "composition", ...leaves].map((ref) => ({ ref, title: ref })),
    edges: [{ from: "definition", to: "composition" }, ...leaves.map((to) => ({ from: "composition", to }))],
    root: "definition",
  };
}

function overlaps(arranged: Arranged): string[] {
  const points = Object.entries(arranged.points).sort(([, a], [, b]) => a.x - b.x);
  const found: string[] = [];
  for (let i = 0; i < points.length; i++) {
    for (let j = i + 1; j < points.length && points[j]![1].x < points[i]![1].x + size.width; j++) {
      if (Math.abs(points[i]![1].y - points[j]![1].y) < size.height) {
        found.push(`${points[i]![0]} ${points[j]![0]}`);
      }
    }
  }
  return found;
}

describe("arrange", () => {
  it("places dependencies on the left", () => {
    const { points, blocks, edges } = arrange(star(3));
    expect(points["definition"]!.x).toBeLessThan(points["composition"]!.x);
    expect(points["composition"]!.x).toBeLessThan(points["r0"]!.x);
    expect(blocks).toEqual([]);
    expect(edges).toHaveLength(4);
  });

  it("groups many nodes with the same neighbor into a block with one edge", () => {
    const { blocks, edges, points } = arrange(star(few + 1));
    expect(blocks).toHaveLength(1);
    expect(blocks[0]).toMatchObject({ at: "composition", after: true });
    expect(edges).toHaveLength(2);
    const [block] = blocks;
    for (const ref of block!.refs) {
      expect(points[ref]!.x).toBeGreaterThanOrEqual(block!.x);
      expect(points[ref]!.x + size.width).toBeLessThanOrEqual(block!.x + block!.width);
      expect(points[ref]!.y + size.height).toBeLessThanOrEqual(block!.y + block!.height);
    }
  });

  it("keeps the root out of blocks", () => {
    const { blocks } = arrange({ ...star(40), root: "r7" });
    expect(blocks[0]!.refs).not.toContain("r7");
    expect(blocks[0]!.refs).toHaveLength(39);
  });

  it("lays out two thousand nodes without overlap", () => {
    const arranged = arrange(star(2000));
    expect(Object.keys(arranged.points)).toHaveLength(2002);
    expect(overlaps(arranged)).toEqual([]);
    // The aspect ratio lets the whole graph fit the view.
    expect(arranged.width / arranged.height).toBeGreaterThan(0.7);
    expect(arranged.width / arranged.height).toBeLessThan(3);
  });

  it("handles cycles and isolated nodes", () => {
    const plan: Plan = { nodes: ["a", "b", "alone"].map((ref) => ({ ref, title: ref })), edges: [{ from: "a", to: "b" }, { from: "b", to: "a" }], root: "a" };
    const arranged = arrange(plan);
    expect(Object.keys(arranged.points).sort()).toEqual(["a", "alone", "b"]);
    expect(overlaps(arranged)).toEqual([]);
  });
});

describe("nearest", () => {
  const points = { a: { x: 0, y: 0 }, b: { x: 300, y: -70 }, c: { x: 300, y: 70 }, d: { x: 600, y: 0 } };

  it("returns the next node in a direction, or undefined", () => {
    expect(nearest(points, "b", "down")).toBe("c");
    expect(nearest(points, "c", "up")).toBe("b");
    expect(nearest(points, "d", "left")).toMatch(/[bc]/);
    expect(nearest(points, "a", "left")).toBeUndefined();
    expect(nearest(points, "gone", "left")).toBe("a");
  });

  it("reaches every node of a large block", () => {
    const arranged = arrange(star(200));
    const seen = new Set(["definition"]);
    const queue = ["definition"];
    while (queue.length > 0) {
      const at = queue.pop()!;
      for (const direction of ["left", "right", "up", "down"] as const) {
        const next = nearest(arranged.points, at, direction);
        if (next !== undefined && !seen.has(next)) {
          seen.add(next);
          queue.push(next);
        }
      }
    }
    expect(seen.size).toBe(202);
  });
});

describe("step", () => {
  // A definition, two compositions far above and below it, and between them the resources of one of them.
  const points = { d: { x: 0, y: 500 }, c1: { x: 300, y: 0 }, c2: { x: 300, y: 1000 }, r1: { x: 600, y: 480 }, r2: { x: 850, y: 480 } };
  const block = ["r1", "r2"];

  it.each([
    ["d", "right", [], ["c1", "c2"], "c1"],
    ["c1", "right", [], ["d", ...block], "r1"],
    ["r1", "right", block, ["c1"], "r2"],
    ["r2", "left", block, ["c1"], "r1"],
    ["r1", "left", block, ["c1"], "c1"],
    ["c1", "down", [], ["d"], "c2"],
    ["r2", "right", block, ["c1"], undefined],
  ] as const)("%s, %s", (from, direction, mates, beside, want) => expect(step(points, from, direction, [...mates], [...beside])).toBe(want));
});
