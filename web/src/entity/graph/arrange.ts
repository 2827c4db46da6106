import { Graph as Dagre, layout } from "@dagrejs/dagre";
import { blocksOf, columnsFor } from "./blocks";
import { alignLeft, routeEdges, type Box, type Point, type Routed } from "./route";
import { gap, head, size } from "./sizes";

export type { Point } from "./route";

// Plan is the input of the layout. Nodes of different groups are in different blocks.
export type Plan = { nodes: { ref: string; title: string; group?: string }[]; edges: { from: string; to: string }[]; root: string };

// Block is a grid of many nodes whose only neighbor is the same node.
export type Block = { id: string; at: string; x: number; y: number; width: number; height: number; refs: string[]; after: boolean };

// Arranged is the result of the layout. Edges to nodes in a block are drawn once, to the block.
export type Arranged = { points: Record<string, Point>; blocks: Block[]; edges: Routed[]; width: number; height: number };

// arrange lays out the nodes: dependencies on the left, dependents on the right. No edge crosses a node.
export function arrange(plan: Plan): Arranged {
  const blocks = blocksOf(plan);
  const inside = new Map(blocks.flatMap((b) => b.refs.map((ref) => [ref, b.id] as const)));
  const graph = new Dagre({ multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: gap, edgesep: 12, ranksep: 96, marginx: 20, marginy: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { ref } of plan.nodes) {
    if (!inside.has(ref)) {
      graph.setNode(ref, { ...size });
    }
  }
  for (const b of blocks) {
    graph.setNode(b.id, { width: b.width, height: b.height });
  }
  const edges = new Map<string, { from: string; to: string }>();
  for (const { from, to } of plan.edges) {
    const edge = { from: inside.get(from) ?? from, to: inside.get(to) ?? to };
    if (edge.from !== edge.to) {
      edges.set(`${edge.from} ${edge.to}`, edge);
    }
  }
  edges.forEach((e) => graph.setEdge(e.from, e.to));
  layout(graph);
  const boxes = alignLeft(graph.nodes().map((id): Box => {
    const { x = 0, y = 0, width, height } = graph.node(id) as { x?: number; y?: number; width: number; height: number };
    return { id, x: x - width / 2, y: y - height / 2, width, height, column: x };
  }));
  const at = new Map(boxes.map((b) => [b.id, b]));
  const points: Record<string, Point> = {};
  for (const { ref } of plan.nodes) {
    if (!inside.has(ref)) {
      points[ref] = corner(at.get(ref)!);
    }
  }
  for (const b of blocks) {
    Object.assign(b, corner(at.get(b.id)!));
    const columns = columnsFor(b.refs.length, blocks.length);
    b.refs.forEach((ref, i) => {
      points[ref] = {
        x: b.x + gap + (i % columns) * (size.width + gap),
        y: b.y + head + Math.floor(i / columns) * (size.height + gap),
      };
    });
  }
  const bends = (e: { from: string; to: string }) => (graph.edge(e.from, e.to) as { points?: Point[] }).points ?? [];
  const whole = graph.graph() as { width?: number; height?: number };
  return { points, blocks, edges: routeEdges(boxes, [...edges.values()].map((e) => ({ ...e, bends: bends(e) }))), width: whole.width ?? 0, height: whole.height ?? 0 };
}

function corner({ x, y }: Box): Point {
  return { x, y };
}
