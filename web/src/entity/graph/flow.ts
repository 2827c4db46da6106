import { Position, type NodeHandle } from "@xyflow/react";
import type { Arranged } from "./arrange";
import type { BlockNode, EntityNode } from "./Boxes";
import type { Graph } from "./gather";
import { marksOf } from "./marks";
import { size } from "./sizes";

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
    const what = graph.names?.nodes ?? (inside.every((n) => n.role === "resource") ? "resources" : "entities");
    const title = `${inside.length.toLocaleString("en")} ${what}${parts.length > 0 ? `: ${parts.map(([n, r]) => `${n.toLocaleString("en")} ${r}`).join(", ")}` : ""}`;
    const marks = far ? marksOf(inside, arranged.points, b) : undefined;
    return { id: b.id, type: "block", position: { x: b.x, y: b.y }, width: b.width, height: b.height, handles: handles(b.width, b.height), zIndex: -1, data: { title, marks } };
  });
  const inBlock = new Set(arranged.blocks.flatMap((b) => b.refs));
  const entities = graph.nodes.flatMap((n): EntityNode[] => {
    const at = arranged.points[n.ref];
    const drawn = at && !(far && inBlock.has(n.ref));
    return drawn ? [{ id: n.ref, type: "entity", position: at, ...size, handles: inBlock.has(n.ref) ? [] : handles(size.width, size.height), data: { node: n, root: n.ref === root ? (graph.names?.root ?? "this entity") : "", inBlock: inBlock.has(n.ref) } }] : [];
  });
  return [...blocks, ...entities];
}
