import { describe, expect, it } from "vitest";
import type { Run } from "../api/types";
import { nice, partsOf, shares, stack } from "./plot";

function run(over: Partial<Run>): Run {
  return {
    trigger: "schedule",
    started: "2026-01-05T10:00:00Z",
    milliseconds: 0,
    discovered: 0,
    changed: 0,
    units: 0,
    failed: 0,
    added: 0,
    updated: 0,
    removed: 0,
    unchanged: 0,
    refused: 0,
    ...over,
  };
}

const size = { width: 300, height: 100 };

describe("partsOf", () => {
  it("returns the phases and the rest", () => {
    expect(partsOf(run({ milliseconds: 100, phases: { read: 60, write: 10 } }))).toEqual([
      { phase: "read", milliseconds: 60 },
      { phase: "write", milliseconds: 10 },
      { phase: "rest", milliseconds: 30 },
    ]);
  });
  it("has no rest if phases overlap", () => {
    expect(partsOf(run({ milliseconds: 50, phases: { load: 40, transform: 40 } })).map((p) => p.phase)).toEqual(["load", "transform"]);
  });
  it("returns only the rest without phases", () => {
    expect(partsOf(run({ milliseconds: 5 }))).toEqual([{ phase: "rest", milliseconds: 5 }]);
  });
});

describe("nice", () => {
  it.each([
    [0, 1],
    [Number.NaN, 1],
    [1, 1],
    [1.1, 2],
    [41, 50],
    [50, 50],
    [51, 60],
    [81, 100],
    [1941, 2000],
    [0.0031, 0.004],
  ])("rounds %d up to %d", (n, want) => expect(nice(n)).toBeCloseTo(want, 9));
});

describe("stack", () => {
  const runs = [run({ started: "2", milliseconds: 80, phases: { read: 20, write: 60 } }), run({ started: "1", milliseconds: 40, phases: { read: 40 } })];
  const plot = stack(runs, size);

  it("sorts bars from oldest to newest", () => {
    expect(plot.bars.map((b) => b.run.started)).toEqual(["1", "2"]);
    expect(plot.bars[1]!.x).toBeGreaterThanOrEqual(plot.bars[0]!.x + plot.bars[0]!.width);
  });
  it("ends at the right edge", () => {
    expect(plot.bars.at(-1)!.x + plot.bars.at(-1)!.width).toBeCloseTo(size.width - 2);
  });
  it("stacks phases from the bottom, with heights by square root", () => {
    expect(plot.top).toBe(80);
    expect(plot.ticks.map((t) => [t.milliseconds, t.y])).toEqual([[0, 100], [20, 50], [80, 0]]);
    for (const bar of plot.bars) {
      let ground = size.height;
      for (const part of bar.parts) {
        expect(part.y + part.height).toBeCloseTo(ground);
        ground = part.y;
      }
      expect(size.height - bar.top).toBeCloseTo(Math.sqrt(bar.total / plot.top) * size.height);
    }
  });
  it("keeps any number of bars within the area and shows the newest", () => {
    const many = Array.from({ length: 500 }, (_, i) => run({ started: String(i), milliseconds: (i * 37) % 900 }));
    const full = stack(many, size);
    expect(full.bars.length).toBeLessThan(many.length);
    expect(full.bars.at(-1)!.run.started).toBe("0");
    for (const bar of full.bars) {
      expect(bar.x).toBeGreaterThanOrEqual(0);
      expect(bar.x + bar.width).toBeLessThanOrEqual(size.width + 1e-6);
      expect(bar.top).toBeGreaterThanOrEqual(-1e-6);
    }
  });
  it("returns no bars without runs", () => {
    expect(stack([], size).bars).toEqual([]);
    expect(stack([run({})], size).bars[0]!.parts).toEqual([]);
    expect(stack([run({})], { width: 0, height: 0 }).bars).toHaveLength(1);
  });
});

describe("shares", () => {
  it("fills the width proportionally", () => {
    expect(shares([{ key: "a", count: 1 }, { key: "b", count: 0 }, { key: "c", count: 3 }], 100)).toEqual([
      { key: "a", count: 1, x: 0, width: 25 },
      { key: "c", count: 3, x: 25, width: 75 },
    ]);
  });
  it("gives every share a minimum width", () => {
    const got = shares([{ key: "few", count: 1 }, { key: "many", count: 100_000 }], 100);
    expect(got[0]!.width).toBeGreaterThan(2);
    expect(got.reduce((n, s) => n + s.width, 0)).toBeCloseTo(100);
  });
  it("returns nothing for zero counts", () => expect(shares([{ key: "a", count: 0 }], 100)).toEqual([]));
});
