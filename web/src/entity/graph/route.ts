export type Point = { x: number; y: number };

// Box is a node or block with its upper left corner. column is the center of its layer.
export type Box = Point & { id: string; width: number; height: number; column: number };

// Bent is an edge with the bends that the layout suggests: one in each column between its ends.
export type Bent = { from: string; to: string; bends: Point[] };

// Routed is an edge as a line through points.
export type Routed = { from: string; to: string; points: Point[] };

// Column is the boxes of a layer, one below the other.
type Column = { center: number; left: number; right: number; boxes: Box[] };

// clear is the distance between a line and the boxes that it passes.
const clear = 6;

// routeEdges routes edges so that none crosses a box that it does not end at: a line passes a column horizontally, between its
// boxes, and changes its height only in the space between two columns.
export function routeEdges(boxes: Box[], edges: Bent[]): Routed[] {
  const columns = columnsOf(boxes);
  const place = new Map(columns.flatMap((c, i) => c.boxes.map((b) => [b.id, i] as const)));
  const at = new Map(boxes.map((b) => [b.id, b]));
  return edges.map(({ from, to, bends }) => {
    const [source, target] = [at.get(from)!, at.get(to)!];
    const [first, last] = [place.get(from)!, place.get(to)!];
    const points = first === last ? aside(columns[first]!, source, target) : across(columns, source, first, target, last, bends);
    return { from, to, points: simple(points) };
  });
}

// alignLeft moves the boxes of each column to its left side.
export function alignLeft(boxes: Box[]): Box[] {
  const left = new Map<number, number>();
  for (const b of boxes) {
    left.set(b.column, Math.min(left.get(b.column) ?? Infinity, b.x));
  }
  return boxes.map((b) => ({ ...b, x: left.get(b.column)! }));
}

function columnsOf(boxes: Box[]): Column[] {
  const found = new Map<number, Column>();
  for (const b of boxes) {
    const center = Math.round(b.column);
    const column = found.get(center) ?? { center, left: Infinity, right: -Infinity, boxes: [] };
    column.left = Math.min(column.left, b.x);
    column.right = Math.max(column.right, b.x + b.width);
    column.boxes.push(b);
    found.set(center, column);
  }
  return [...found.values()].sort((a, b) => a.center - b.center);
}

const middle = (b: Box) => b.y + b.height / 2;

// across routes an edge to another column. One that leads back, which closes a cycle, leaves on the left.
function across(columns: Column[], source: Box, first: number, target: Box, last: number, bends: Point[]): Point[] {
  const ahead = last > first;
  const near = (b: { x: number; width: number }) => (ahead ? b.x + b.width : b.x);
  const far = (b: { x: number; width: number }) => (ahead ? b.x : b.x + b.width);
  const points: Point[] = [
    { x: near(source), y: middle(source) },
    { x: ahead ? columns[first]!.right : columns[first]!.left, y: middle(source) },
  ];
  for (let i = first + (ahead ? 1 : -1); i !== last; i += ahead ? 1 : -1) {
    const column = columns[i]!;
    const y = freeHeight(column, heightAt(bends, column.center) ?? middle(target));
    const sides = [
      { x: column.left, y },
      { x: column.right, y },
    ];
    points.push(...(ahead ? sides : sides.reverse()));
  }
  points.push({ x: ahead ? columns[last]!.left : columns[last]!.right, y: middle(target) }, { x: far(target), y: middle(target) });
  return points;
}

// aside routes an edge within a column, beside it.
function aside(column: Column, source: Box, target: Box): Point[] {
  const x = column.right + 24;
  return [
    { x: source.x + source.width, y: middle(source) },
    { x, y: middle(source) },
    { x, y: middle(target) },
    { x: target.x + target.width, y: middle(target) },
  ];
}

// heightAt returns the height of the bend that is nearest to a column.
function heightAt(bends: Point[], x: number): number | undefined {
  let best: Point | undefined;
  for (const bend of bends) {
    if (!best || Math.abs(bend.x - x) < Math.abs(best.x - x)) {
      best = bend;
    }
  }
  return best?.y;
}

// freeHeight returns the height nearest to a wanted one at which a line can pass a column.
function freeHeight({ boxes }: Column, y: number): number {
  const taken = (at: number) => boxes.some((b) => at > b.y - clear && at < b.y + b.height + clear);
  if (!taken(y)) {
    return y;
  }
  const free = boxes.flatMap((b) => [b.y - clear, b.y + b.height + clear]).filter((at) => !taken(at));
  return free.reduce((best, at) => (Math.abs(at - y) < Math.abs(best - y) ? at : best), free[0] ?? y);
}

// simple leaves out points that are the same as the one before.
function simple(points: Point[]): Point[] {
  return points.filter((p, i) => i === 0 || p.x !== points[i - 1]!.x || p.y !== points[i - 1]!.y);
}

// pathOf draws a line through points. Where it changes its height it is a curve, which stays between the two points.
export function pathOf(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) {
    return "";
  }
  let before = first;
  let path = `M${first.x} ${first.y}`;
  for (const p of rest) {
    const half = (before.x + p.x) / 2;
    path += before.y === p.y || before.x === p.x ? `L${p.x} ${p.y}` : `C${half} ${before.y} ${half} ${p.y} ${p.x} ${p.y}`;
    before = p;
  }
  return path;
}
