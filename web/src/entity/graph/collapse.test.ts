import { describe, expect, it } from "vitest";
import { collapse } from "./collapse";
import type { Graph, Node } from "./gather";

function node(ref: string, kind: string, more: Partial<Node> = {}): Node {
  return { ref, title: ref, kind, stale: false, missing: false, more: 0, ...more };
}

const root = "group:default/team";
const many = (count: number, kind: string, more: Partial<Node> = {}) => Array.from({ length: count }, (_, i) => node(`${kind}-${i}`, kind, more));

// owned returns the graph of a group that owns nodes.
function owned(...nodes: Node[]): Graph {
  return { nodes: [node(root, "Group"), ...nodes], edges: nodes.map((n) => ({ from: root, to: n.ref })), full: false };
}

const team = { ref: root, kind: "group", name: "team" };

describe("collapse", () => {
  it("makes one node of more than 12 members of a kind, which opens the catalog", () => {
    const graph = collapse(owned(...many(13, "Template", { type: "infrastructure" }), ...many(12, "API")), team, []);
    expect(graph.nodes.map((n) => n.title).filter((t) => !t.startsWith("API-"))).toEqual([root, "13 templates"]);
    expect(graph.nodes.at(-1)!.to).toBe("/catalog?kind=Template&type=infrastructure&owner=group%3Adefault%2Fteam");
    expect(graph.edges).toHaveLength(13);
    expect(graph.edges.at(-1)).toEqual({ from: root, to: graph.nodes.at(-1)!.ref, belongs: true });
  });

  it("says how many are not ready", () => {
    const resources = many(20, "Resource", { role: "resource", readiness: "ready" });
    resources[3]!.readiness = "unknown";
    expect(collapse(owned(...resources), team, []).nodes.at(-1)).toMatchObject({ title: "20 resources", readiness: "not ready", state: "1 not ready" });
    expect(collapse(owned(...many(20, "Resource", { readiness: "ready" })), team, []).nodes.at(-1)).toMatchObject({ readiness: "ready", state: "all ready" });
  });

  it("drops edges between members, except those of opened ones", () => {
    const graph = owned(...many(3, "API"));
    graph.edges.push({ from: "API-0", to: "API-1" });
    expect(collapse(graph, team, []).edges).toHaveLength(3);
    expect(collapse(graph, team, ["API-0"]).edges).toHaveLength(4);
  });

  it("keeps missing members, and those before the group apart", () => {
    const graph = owned(...many(13, "User", { missing: true }));
    graph.nodes.push(...many(13, "Group"));
    graph.edges.push(...many(13, "Group").map((n) => ({ from: n.ref, to: root })));
    const got = collapse(graph, team, []);
    expect(got.nodes.filter((n) => n.missing)).toHaveLength(13);
    expect(got.nodes.at(-1)).toMatchObject({ title: "13 groups", to: "/catalog?kind=Group" });
    expect(got.edges.at(-1)).toEqual({ from: got.nodes.at(-1)!.ref, to: root, belongs: true });
  });
});
