import { texts } from "../../text";
import type { Graph, Node } from "./gather";
import { kindOf } from "./kindOf";
import { few } from "./sizes";

// Whole is an entity that owns or contains others, such as a group.
export type Whole = { ref: string; kind: string; name: string };

// collapse simplifies the graph of a whole: it drops the edges between its members, and makes one node of many members of a
// kind, which leads to the catalog. Opened members keep their edges.
export function collapse(graph: Graph, whole: Whole, open: string[]): Graph {
  const asked = new Set([whole.ref, ...open]);
  const edges = graph.edges.filter((e) => asked.has(e.from) || asked.has(e.to));
  const beside = new Map<string, string[]>();
  for (const { from, to } of edges) {
    beside.set(from, [...(beside.get(from) ?? []), to]);
    beside.set(to, [...(beside.get(to) ?? []), from]);
  }
  // The key has the side of the members, which are before or after the whole.
  const before = new Set(edges.filter((e) => e.to === whole.ref).map((e) => e.from));
  const members = new Map<string, Node[]>();
  for (const node of graph.nodes) {
    const neighbors = beside.get(node.ref) ?? [];
    if (!asked.has(node.ref) && !node.missing && neighbors.length === 1 && neighbors[0] === whole.ref) {
      const key = `many ${before.has(node.ref) ? "before" : "after"} ${kindOf(node)}`;
      members.set(key, [...(members.get(key) ?? []), node]);
    }
  }
  const many = new Map([...members].filter(([, nodes]) => nodes.length > few));
  const hidden = new Set([...many.values()].flatMap((nodes) => nodes.map((n) => n.ref)));
  return {
    ...graph,
    nodes: [...graph.nodes.filter((n) => !hidden.has(n.ref)), ...[...many].map(([ref, nodes]) => nodeOf(ref, nodes, whole))],
    edges: [
      ...edges.filter((e) => !hidden.has(e.from) && !hidden.has(e.to)),
      ...[...many.keys()].map((ref) => (ref.startsWith("many before") ? { from: ref, to: whole.ref, belongs: true } : { from: whole.ref, to: ref, belongs: true })),
    ],
  };
}

// nodeOf returns one node for many.
function nodeOf(ref: string, nodes: Node[], whole: Whole): Node {
  const [first] = nodes as [Node];
  const unready = nodes.filter((n) => n.readiness !== undefined && n.readiness !== "ready").length;
  const rated = nodes.some((n) => n.readiness !== undefined);
  return {
    ref,
    title: texts.entity.graph.many(kindOf(first), nodes.length),
    kind: texts.entity.graph.inCatalog,
    icon: first.icon,
    readiness: rated ? (unready > 0 ? "not ready" : "ready") : undefined,
    state: rated ? (unready > 0 ? texts.entity.graph.unready(unready) : texts.entity.graph.allReady) : undefined,
    to: `/catalog?${filterFor(nodes, whole)}`,
    stale: false,
    missing: false,
    more: 0,
  };
}

// filterFor returns the filter of the catalog that selects the nodes, as far as it can express that.
function filterFor(nodes: Node[], whole: Whole): string {
  const [first] = nodes as [Node];
  const params = new URLSearchParams({ kind: first.kind });
  if (first.type && nodes.every((n) => n.type === first.type)) {
    params.set("type", first.type);
  }
  const owning = ["group", "user"].includes(whole.kind);
  if (owning && !["User", "Group"].includes(first.kind)) {
    params.set("owner", whole.ref);
  } else if (whole.kind === "system") {
    params.set("system", whole.name);
  }
  return params.toString();
}
