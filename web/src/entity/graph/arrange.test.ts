import { describe, expect, it } from "vitest";
import { arrange, type Arranged, type Plan } from "./arrange";
import { nearest, step } from "./keys";
import { few, size } from "./sizes";

// star is a definition with a composition, and a number of resources that hang on it.
function star(count: number): Plan {
  const leaves = Array.from({ length: count }, (_, i) => `r${i}`);
  return {
    nodes: ["definition", "composition", ...leaves].map((ref) => ({ ref, title: ref })),
    edges: [{ from: "definition", to: "composition" }, ...leaves.map((to) => ({ from: "composition", to }))],
    root: "definition",
  };
}

function overlaps(arranged: Arranged): string[] {
  const places = Object.entries(arranged.places).sort(([, a], [, b]) => a.x - b.x);
  const found: string[] = [];
  for (let i = 0; i < places.length; i++) {
    for (let j = i + 1; j < places.length && places[j]![1].x < places[i]![1].x + size.width; j++) {
      if (Math.abs(places[i]![1].y - places[j]![1].y) < size.height) {
        found.push(`${places[i]![0]} ${places[j]![0]}`);
      }
    }
  }
  return found;
}

describe("arrange", () => {
  it("puts what is needed on the left of what needs it", () => {
    const { places, blocks, edges } = arrange(star(3));
    expect(places["definition"]!.x).toBeLessThan(places["composition"]!.x);
    expect(places["composition"]!.x).toBeLessThan(places["r0"]!.x);
    expect(blocks).toEqual([]);
    expect(edges).toHaveLength(4);
  });

  it("makes a block of many that hang on the same node, with one edge", () => {
    const { blocks, edges, places } = arrange(star(few + 1));
    expect(blocks).toHaveLength(1);
    expect(blocks[0]).toMatchObject({ at: "composition", after: true });
    expect(edges).toHaveLength(2);
    const [block] = blocks;
    for (const ref of block!.refs) {
      expect(places[ref]!.x).toBeGreaterThanOrEqual(block!.x);
      expect(places[ref]!.x + size.width).toBeLessThanOrEqual(block!.x + block!.width);
      expect(places[ref]!.y + size.height).toBeLessThanOrEqual(block!.y + block!.height);
    }
  });

  it("does not hide the root in a block", () => {
    const { blocks } = arrange({ ...star(40), root: "r7" });
    expect(blocks[0]!.refs).not.toContain("r7");
    expect(blocks[0]!.refs).toHaveLength(39);
  });

  it("finds a place for two thousand nodes, none on another", () => {
    const arranged = arrange(star(2000));
    expect(Object.keys(arranged.places)).toHaveLength(2002);
    expect(overlaps(arranged)).toEqual([]);
    // About as wide as it is high, so that it can be looked at as a whole.
    expect(arranged.width / arranged.height).toBeGreaterThan(0.7);
    expect(arranged.width / arranged.height).toBeLessThan(3);
  });

  it("copes with circles and lone nodes", () => {
    const plan: Plan = { nodes: ["a", "b", "alone"].map((ref) => ({ ref, title: ref })), edges: [{ from: "a", to: "b" }, { from: "b", to: "a" }], root: "a" };
    const arranged = arrange(plan);
    expect(Object.keys(arranged.places).sort()).toEqual(["a", "alone", "b"]);
    expect(overlaps(arranged)).toEqual([]);
  });
});

describe("nearest", () => {
  const places = { a: { x: 0, y: 0 }, b: { x: 300, y: -70 }, c: { x: 300, y: 70 }, d: { x: 600, y: 0 } };

  it("goes to the next one in a direction, and nowhere where there is none", () => {
    expect(nearest(places, "b", "down")).toBe("c");
    expect(nearest(places, "c", "up")).toBe("b");
    expect(nearest(places, "d", "left")).toMatch(/[bc]/);
    expect(nearest(places, "a", "left")).toBeUndefined();
    expect(nearest(places, "gone", "left")).toBe("a");
  });

  it("reaches every node of a large block", () => {
    const arranged = arrange(star(200));
    const seen = new Set(["definition"]);
    const queue = ["definition"];
    while (queue.length > 0) {
      const at = queue.pop()!;
      for (const direction of ["left", "right", "up", "down"] as const) {
        const next = nearest(arranged.places, at, direction);
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
  // A definition, two compositions far above and below it, and between them in sight the resources of one of them.
  const places = { d: { x: 0, y: 500 }, c1: { x: 300, y: 0 }, c2: { x: 300, y: 1000 }, r1: { x: 600, y: 480 }, r2: { x: 850, y: 480 } };
  const block = ["r1", "r2"];

  it.each([
    ["d", "right", [], ["c1", "c2"], "c1"],
    ["c1", "right", [], ["d", ...block], "r1"],
    ["r1", "right", block, ["c1"], "r2"],
    ["r2", "left", block, ["c1"], "r1"],
    ["r1", "left", block, ["c1"], "c1"],
    ["c1", "down", [], ["d"], "c2"],
    ["r2", "right", block, ["c1"], undefined],
  ] as const)("%s, %s", (from, direction, mates, beside, want) => expect(step(places, from, direction, [...mates], [...beside])).toBe(want));
});
