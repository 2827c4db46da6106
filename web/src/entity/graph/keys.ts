import type { Place } from "./arrange";

export type Direction = "left" | "right" | "up" | "down";

export const directions: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

// step finds the node to go to in a direction: one of the same block, one that it has to do with, or else any.
export function step(places: Record<string, Place>, from: string, direction: Direction, block: string[], beside: string[]): string | undefined {
  const across = direction === "left" || direction === "right";
  return nearest(places, from, direction, block) ?? (across ? nearest(places, from, direction, beside) : undefined) ?? nearest(places, from, direction);
}

// nearest finds, among some nodes or all, the one to go to in a direction: near, and rather straight ahead than aside.
export function nearest(places: Record<string, Place>, from: string, direction: Direction, among = Object.keys(places)): string | undefined {
  const start = places[from];
  if (!start) {
    return among[0];
  }
  let best: { ref: string; cost: number } | undefined;
  for (const ref of among) {
    const at = places[ref];
    if (!at) {
      continue;
    }
    const [dx, dy] = [at.x - start.x, at.y - start.y];
    const [ahead, aside] =
      direction === "left" ? [-dx, Math.abs(dy)] : direction === "right" ? [dx, Math.abs(dy)] : direction === "up" ? [-dy, Math.abs(dx)] : [dy, Math.abs(dx)];
    // Nodes of one column never stand exactly in line, so a few points are no step.
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
