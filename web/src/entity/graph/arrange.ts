import { Graph as Dagre, layout } from "@dagrejs/dagre";
import { few, gap, head, size } from "./sizes";

// Plan is the input of the layout.
export type Plan = { nodes: { ref: string; title: string }[]; edges: { from: string; to: string }[]; root: string };

export type Point = { x: number; y: number };

// Block is a grid of many nodes whose only neighbor is the same node.
export type Block = { id: string; at: string; x: number; y: number; width: number; height: number; refs: string[]; after: boolean };

// Arranged is the result of the layout. Edges to nodes in a block are drawn once, to the block.
export type Arranged = { points: Record<string, Point>; blocks: Block[]; edges: { from: string; to: string }[]; width: number; height: number };

// arrange lays out the nodes: dependencies on the left, dependents on the right.
export function arrange(plan: Plan): Arranged {
  const blocks = blocksOf(plan);
  const inside = new Map(blocks.flatMap((b) => b.refs.map((ref) => [ref, b.id] as const)));
  const graph = new Dagre({ multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: gap, ranksep: 72, marginx: 20, marginy: 20 });
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
    edges.set(`${edge.from} ${edge.to}`, edge);
  }
  edges.forEach((e) => graph.setEdge(e.from, e.to));
  layout(graph);
  const points: Record<string, Point> = {};
  const corner = (id: string) => {
    const at = graph.node(id) as { x?: number; y?: number; width: number; height: number };
    return { x: (at.x ?? 0) - at.width / 2, y: (at.y ?? 0) - at.height / 2 };
  };
  for (const { ref } of plan.nodes) {
    if (!inside.has(ref)) {
      points[ref] = corner(ref);
    }
  }
  for (const b of blocks) {
    Object.assign(b, corner(b.id));
    const columns = columnsFor(b.refs.length, blocks.length);
    b.refs.forEach((ref, i) => {
      points[ref] = {
        x: b.x + gap + (i % columns) * (size.width + gap),
        y: b.y + head + Math.floor(i / columns) * (size.height + gap),
      };
    });
  }
  const whole = graph.graph() as { width?: number; height?: number };
  return { points, blocks, edges: [...edges.values()], width: whole.width ?? 0, height: whole.height ?? 0 };
}

// blocksOf groups nodes whose only neighbor is the same node, if there are many.
function blocksOf(plan: Plan): Block[] {
  const beside = new Map<string, { ref: string; after: boolean }[]>();
  const note = (ref: string, other: { ref: string; after: boolean }) => {
    const all = beside.get(ref);
    if (all) {
      all.push(other);
    } else {
      beside.set(ref, [other]);
    }
  };
  for (const { from, to } of plan.edges) {
    note(from, { ref: to, after: true });
    note(to, { ref: from, after: false });
  }
  const hanging = new Map<string, { at: string; after: boolean; refs: { ref: string; title: string }[] }>();
  for (const node of plan.nodes) {
    const [only, ...others] = beside.get(node.ref) ?? [];
    if (!only || others.length > 0 || node.ref === plan.root) {
      continue;
    }
    // The group is after its neighbor exactly if the neighbor is before it.
    const key = `${only.after ? "before" : "after"} ${only.ref}`;
    const group = hanging.get(key) ?? { at: only.ref, after: !only.after, refs: [] };
    group.refs.push(node);
    hanging.set(key, group);
  }
  const large = [...hanging].filter(([, { refs }]) => refs.length > few);
  return large.map(([id, { at, after, refs }]): Block => {
    refs.sort((a, b) => a.title.localeCompare(b.title, "en", { numeric: true }));
    const columns = columnsFor(refs.length, large.length);
    const rows = Math.ceil(refs.length / columns);
    return {
      id,
      at,
      after,
      x: 0,
      y: 0,
      width: columns * (size.width + gap) + gap,
      height: head + rows * (size.height + gap),
      refs: refs.map((n) => n.ref),
    };
  });
}

// columnsFor chooses the columns so that all blocks stacked have an aspect ratio of about 3:2. With many blocks each is
// flat, so that their neighbors are close together.
export function columnsFor(count: number, blocks = 1): number {
  const columns = Math.round(Math.sqrt((count * 1.5 * blocks * (size.height + gap)) / (size.width + gap)));
  return Math.min(count, Math.max(1, columns));
}
