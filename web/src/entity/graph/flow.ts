import { MarkerType, Position, type Edge as FlowEdge, type NodeHandle } from "@xyflow/react";
import { texts } from "../../text";
import type { Arranged } from "./arrange";
import type { BlockNode, EntityNode } from "./Boxes";
import type { Graph } from "./gather";
import { kindOf } from "./kindOf";
import { marksOf } from "./marks";
import { pathOf } from "./route";
import { size } from "./sizes";

const words = texts.entity.graph;

// handles returns the ends of edges. With explicit handles, nodes need not be rendered to be measured.
function handles(width: number, height: number): NodeHandle[] {
  return [
    { type: "target", position: Position.Left, x: 0, y: height / 2, width: 1, height: 1 },
    { type: "source", position: Position.Right, x: width, y: height / 2, width: 1, height: 1 },
  ];
}

// nodesOf converts nodes for the graph library. Zoomed out, blocks draw their nodes.
export function nodesOf(graph: Graph, arranged: Arranged, root: string, far: boolean): (EntityNode | BlockNode)[] {
  const known = new Map(graph.nodes.map((n) => [n.ref, n]));
  const blocks = arranged.blocks.map((b): BlockNode => {
    const inside = b.refs.flatMap((ref) => known.get(ref) ?? []);
    const count = (readiness: string) => inside.filter((n) => n.readiness === readiness).length;
    const parts = (["ready", "not ready", "unknown"] as const).map((r) => [count(r), r] as const).filter(([n]) => n > 0);
    const kinds = new Set(inside.map(kindOf));
    const what = graph.names ? words.count(inside.length, graph.names.nodes) : words.many(kinds.size === 1 ? [...kinds][0]! : "", inside.length);
    const title = [what, parts.map(([n, r]) => words.count(n, r)).join(", ")].filter(Boolean).join(": ");
    const marks = far ? marksOf(inside, arranged.points, b) : undefined;
    return { id: b.id, type: "block", position: { x: b.x, y: b.y }, width: b.width, height: b.height, handles: handles(b.width, b.height), zIndex: -1, data: { title, marks } };
  });
  const inBlock = new Set(arranged.blocks.flatMap((b) => b.refs));
  const entities = graph.nodes.flatMap((n): EntityNode[] => {
    const at = arranged.points[n.ref];
    const drawn = at && !(far && inBlock.has(n.ref));
    return drawn ? [{ id: n.ref, type: "entity", position: at, ...size, handles: inBlock.has(n.ref) ? [] : handles(size.width, size.height), data: { node: n, root: n.ref === root ? (graph.names?.root ?? words.thisEntity) : "", inBlock: inBlock.has(n.ref) } }] : [];
  });
  return [...blocks, ...entities];
}

// RoutedEdge is an edge along its own path.
export type RoutedEdge = FlowEdge<{ path: string }, "routed">;

// arrow is the marker at the end of an edge.
const arrow = { type: MarkerType.ArrowClosed, width: 16, height: 16 };

// edgesOf converts edges for the graph library.
export function edgesOf(arranged: Arranged, className: string): RoutedEdge[] {
  return arranged.edges.map((e) => ({ id: `${e.from} ${e.to}`, source: e.from, target: e.to, type: "routed", focusable: false, className, markerEnd: arrow, data: { path: pathOf(e.points) } }));
}
