import { describe, expect, it } from "vitest";
import { arrange } from "../graph/arrange";
import { graphOf, objectsOf } from "./graphOf";
import { keyOf, type ObjectNode } from "./state";
import { withChildren } from "./useMoreObjects";

function object(name: string, more: Partial<ObjectNode> = {}): ObjectNode {
  return { ref: { apiVersion: "a/v1", kind: "Thing", name }, state: "present", readiness: "ready", ...more };
}

const ref = (name: string) => keyOf(object(name).ref);

describe("graphOf", () => {
  it.each<[string, Partial<ObjectNode>, object]>([
    ["a ready object", {}, { readiness: "ready", state: undefined }],
    ["one that is not ready", { readiness: "not ready" }, { readiness: "not ready", state: undefined }],
    ["one without readiness", { readiness: "none" }, { readiness: undefined, state: undefined }],
    ["one that does not exist", { state: "missing", readiness: "unknown" }, { readiness: "not ready", state: "Missing" }],
    ["one that may not be read", { state: "forbidden", readiness: "unknown" }, { readiness: "unknown", state: "Forbidden" }],
    ["one that is being deleted", { deleted: "2026-01-02T03:04:05Z" }, { readiness: "ready", state: "Deleting" }],
    ["a paused one", { paused: true }, { readiness: "ready", state: "Paused" }],
  ])("shows %s in words and with a mark", (_, more, want) => {
    const [, node] = graphOf(object("root", { children: [object("x", more)] })).nodes;
    expect(node).toMatchObject({ title: "x", kind: "Thing", missing: false, ...want });
    // An object is no entity and has no page.
    expect(node!.to).toBeUndefined();
  });

  it("draws each object once, also if it occurs twice or is its own ancestor", () => {
    const shared = object("shared");
    const tree = object("root", {
      children: [object("a", { children: [shared, object("root", { loop: true }), object("a", { loop: true })] }), object("b", { children: [shared] })],
    });
    const graph = graphOf(tree);
    expect(graph.nodes.map((n) => n.title)).toEqual(["root", "a", "b", "shared"]);
    expect(graph.edges).toEqual([
      { from: ref("root"), to: ref("a") },
      { from: ref("root"), to: ref("b") },
      { from: ref("a"), to: ref("shared") },
      { from: ref("a"), to: ref("root") },
      { from: ref("b"), to: ref("shared") },
    ]);
    expect(objectsOf(tree).get(ref("root"))).toBe(tree);
    expect(Object.keys(arrange({ ...graph, root: ref("root") }).points)).toHaveLength(4);
  });

  it("expands the root alone, and says what is left out elsewhere", () => {
    const { nodes } = graphOf(object("root", { more: 7, children: [object("a", { more: 3 })] }));
    expect(nodes.map(({ more, note }) => ({ more, note }))).toEqual([
      { more: 7, note: undefined },
      { more: 0, note: "3 more not shown" },
    ]);
  });

  it("is not confused by names of others", () => {
    const strange = { apiVersion: "__proto__", kind: "constructor", name: "after object a/v1 Thing  root" };
    const graph = graphOf(object("root", { children: [{ ref: strange, state: "missing", readiness: "unknown" }] }));
    expect(Object.keys(arrange({ ...graph, root: ref("root") }).points)).toHaveLength(2);
  });
});

describe("withChildren", () => {
  it("appends further children once, and knows how many are left", () => {
    const tree = object("root", { more: 5, children: [object("a"), object("b")] });
    const parts = [object("root", { more: 3, children: [object("b"), object("c")] }), object("root", { children: [object("d")] })];
    expect(withChildren(tree, []).more).toBe(5);
    expect(withChildren(tree, parts.slice(0, 1)).more).toBe(3);
    const all = withChildren(tree, parts);
    expect(all.children!.map((c) => c.ref.name)).toEqual(["a", "b", "c", "d"]);
    expect(all.more).toBeUndefined();
  });
});
