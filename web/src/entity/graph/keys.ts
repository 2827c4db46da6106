import type { Point } from "./arrange";

export type Direction = "left" | "right" | "up" | "down";

export const directions: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

// step finds the next node in a direction: in the same block, among the neighbors, or else any.
export function step(points: Record<string, Point>, from: string, direction: Direction, block: string[], beside: string[]): string | undefined {
  const across = direction === "left" || direction === "right";
  return nearest(points, from, direction, block) ?? (across ? nearest(points, from, direction, beside) : undefined) ?? nearest(points, from, direction);
}

// nearest finds the closest node in a direction and prefers those straight ahead.
export function nearest(points: Record<string, Point>, from: string, direction: Direction, among = Object.keys(points)): string | undefined {
  const start = points[from];
  if (!start) {
    return among[0];
  }
  let best: { ref: string; cost: number } | undefined;
  for (const ref of among) {
    const at = points[ref];
    if (!at) {
      continue;
    }
    const [dx, dy] = [at.x - start.x, at.y - start.y];
    const [ahead, aside] =
      direction === "left" ? [-dx, Math.abs(dy)] : direction === "right" ? [dx, Math.abs(dy)] : direction === "up" ? [-dy, Math.abs(dx)] : [dy, Math.abs(dx)];
    // Nodes of one column are not exactly aligned: ignore small offsets.
    if (ref === from || ahead < 8) {
      continue;
    }
    const cost = ahead + aside * 2;
    if (!best || cost < best.cost) {
      best = { ref, cost };
    }
  }
  return best?.ref;
}
