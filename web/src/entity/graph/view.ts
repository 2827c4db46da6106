import type { Arranged, Point } from "./arrange";
import { size } from "./sizes";

// readable is the minimum zoom at which the first view shows the whole graph; below it, the view starts at a node.
export const readable = 0.75;

// near is the zoom of a view that starts at a node.
const near = 0.9;

// margin is the room around the graph, in pixels of the screen.
const margin = 12;

type Area = { width: number; height: number };

// fitting returns the zoom at which an area shows the whole graph.
export function fitting({ width, height }: Area, arranged: Arranged): number {
  return Math.min(1, (width - margin) / arranged.width, (height - margin) / arranged.height);
}

// startAt returns the center and zoom of a view that starts at a node: what precedes it takes a third of the area at most, and
// the view does not go beyond the graph.
export function startAt(at: Point, area: Area, arranged: Arranged): Point & { zoom: number } {
  const [width, height] = [area.width / near, area.height / near];
  // A narrow area has room for one column only.
  const before = width > 3 * size.width ? width / 3 : 16;
  return {
    x: within(at.x - before + width / 2, width, arranged.width),
    y: within(at.y + size.height / 2, height, arranged.height),
    zoom: near,
  };
}

// within moves the center of a view so that the view does not show what is beyond the graph.
function within(center: number, view: number, graph: number): number {
  return view >= graph ? graph / 2 : Math.min(Math.max(center, view / 2), graph - view / 2);
}
