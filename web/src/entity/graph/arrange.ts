import { Graph as Dagre, layout } from "@dagrejs/dagre";
import { few, gap, head, size } from "./sizes";

// What is arranged: only who is beside whom matters.
export type Plan = { nodes: { ref: string; title: string }[]; edges: { from: string; to: string }[]; root: string };

export type Place = { x: number; y: number };

// Block is a number of nodes that hang on the same one and lead nowhere else, in rows and columns.
export type Block = { id: string; at: string; x: number; y: number; width: number; height: number; refs: string[]; after: boolean };

// Arranged says where everything is. Edges of what is in a block are drawn once, to the block.
export type Arranged = { places: Record<string, Place>; blocks: Block[]; edges: { from: string; to: string }[]; width: number; height: number };

// arrange finds a place for each node: what is needed on the left, what needs it on the right.
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
  const places: Record<string, Place> = {};
  const corner = (id: string) => {
    const at = graph.node(id) as { x?: number; y?: number; width: number; height: number };
    return { x: (at.x ?? 0) - at.width / 2, y: (at.y ?? 0) - at.height / 2 };
  };
  for (const { ref } of plan.nodes) {
    if (!inside.has(ref)) {
      places[ref] = corner(ref);
    }
  }
  for (const b of blocks) {
    Object.assign(b, corner(b.id));
    const columns = columnsFor(b.refs.length, blocks.length);
    b.refs.forEach((ref, i) => {
      places[ref] = {
        x: b.x + gap + (i % columns) * (size.width + gap),
        y: b.y + head + Math.floor(i / columns) * (size.height + gap),
      };
    });
  }
  const whole = graph.graph() as { width?: number; height?: number };
  return { places, blocks, edges: [...edges.values()], width: whole.width ?? 0, height: whole.height ?? 0 };
}

// blocksOf finds nodes that hang on the same one and on nothing else, where there are many.
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
    // The one it hangs on stands after it exactly if it stands before that one.
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

// columnsFor makes all blocks together, one below the other, about half again as wide as they are high: many are flat, so
// that what they hang on stands close together.
export function columnsFor(count: number, blocks = 1): number {
  const columns = Math.round(Math.sqrt((count * 1.5 * blocks * (size.height + gap)) / (size.width + gap)));
  return Math.min(count, Math.max(1, columns));
}
