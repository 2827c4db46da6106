import type { Run } from "../api/types";

// The geometry of the charts, separate from drawing so that it can be tested.

export const phases = ["read", "load", "transform", "write", "rest"] as const;
export type Phase = (typeof phases)[number];

export type Part = { phase: Phase; milliseconds: number; y: number; height: number };
export type Bar = { key: string; run: Run; x: number; width: number; top: number; total: number; parts: Part[] };
export type Tick = { y: number; milliseconds: number };
export type Plot = { bars: Bar[]; ticks: Tick[]; top: number };

export type Size = { width: number; height: number };

// keyOf returns a unique key of a run.
export function keyOf(run: Run): string {
  return run.id ?? `${run.started} ${run.source ?? ""}`;
}

// partsOf returns the durations of the phases of a run. Concurrent phases add up to more than the total; time outside of
// all phases is the rest.
export function partsOf(run: Run): { phase: Phase; milliseconds: number }[] {
  const known = run.phases ?? {};
  const parts: { phase: Phase; milliseconds: number }[] = [];
  let sum = 0;
  for (const phase of ["read", "load", "transform", "write"] as const) {
    const milliseconds = Math.max(0, known[phase] ?? 0);
    sum += milliseconds;
    parts.push({ phase, milliseconds });
  }
  parts.push({ phase: "rest", milliseconds: Math.max(0, run.milliseconds - sum) });
  return parts.filter((p) => p.milliseconds > 0);
}

// nice returns the next round number that is not below n, with a round half.
export function nice(n: number): number {
  if (!(n > 0)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(n));
  for (const step of [1, 2, 3, 4, 5, 6, 8]) {
    if (n <= step * power * (1 + 1e-9)) {
      return step * power;
    }
  }
  return 10 * power;
}

const gap = 2;
const widest = 28;

// stack lays out runs as bars, with the newest at the right edge. If there are too many, it keeps the newest. The height of a
// bar is the square root of its share, so that quick runs beside slow ones are visible; the phases share it as they are.
export function stack(newestFirst: Run[], size: Size, narrowest = 6): Plot {
  const room = Math.max(1, Math.floor(size.width / (narrowest + gap)));
  const runs = newestFirst.slice(0, room).reverse();
  const totals = runs.map((run) => partsOf(run).reduce((sum, p) => sum + p.milliseconds, 0));
  const top = nice(Math.max(1, ...totals));
  const pitch = runs.length === 0 ? 0 : Math.min(size.width / runs.length, widest + gap);
  const bars = runs.map((run, i): Bar => {
    let y = size.height;
    const total = totals[i] ?? 0;
    const full = Math.sqrt(total / top) * size.height;
    const parts = partsOf(run).map(({ phase, milliseconds }): Part => {
      const height = (milliseconds / total) * full;
      y -= height;
      return { phase, milliseconds, y, height };
    });
    return { key: keyOf(run), run, x: size.width - (runs.length - i) * pitch, width: Math.max(1, pitch - gap), top: y, total, parts };
  });
  const ticks = [0, 0.25, 1].map((share) => ({ milliseconds: share * top, y: size.height * (1 - Math.sqrt(share)) }));
  return { bars, ticks, top };
}

export type Share = { key: string; count: number; x: number; width: number };

// shares lays out counts side by side over a width, with a minimum width each.
export function shares(counts: { key: string; count: number }[], width: number, least = 3): Share[] {
  const some = counts.filter((c) => c.count > 0);
  const sum = some.reduce((n, c) => n + c.count, 0);
  if (sum === 0) {
    return [];
  }
  const wanted = some.map((c) => Math.max(least, (c.count / sum) * width));
  const scale = width / wanted.reduce((n, w) => n + w, 0);
  let x = 0;
  return some.map((c, i) => {
    const w = (wanted[i] ?? 0) * scale;
    const share = { key: c.key, count: c.count, x, width: w };
    x += w;
    return share;
  });
}
