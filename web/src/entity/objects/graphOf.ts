import type { Edge, Graph, Node } from "../graph/gather";
import type { EntityPart } from "../../api/types";
import { iconOf } from "../../components/entityIcon";
import { texts } from "../../text";
import { keyOf, readinessOf, stateOf, type ObjectNode } from "./state";

// graphOf turns the tree of a resource into a graph. An object that occurs twice, such as one that two composites compose,
// is one node. Only the children of the root can be loaded later, so only the root can be expanded.
export function graphOf(tree: ObjectNode): Graph {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  const root = keyOf(tree.ref);
  for (const object of walk(tree)) {
    const ref = keyOf(object.ref);
    // A loop has no children of its own: they are at the ancestor, which is known.
    if (!nodes.has(ref)) {
      nodes.set(ref, nodeOf(object, ref, ref === root));
    }
    for (const child of object.children ?? []) {
      const to = keyOf(child.ref);
      if (to !== ref) {
        edges.set(`${ref} ${to}`, { from: ref, to });
      }
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()], full: false, names: texts.entity.objects.names };
}

function nodeOf(object: ObjectNode, ref: string, root: boolean): Node {
  const more = object.more ?? 0;
  return {
    ref,
    title: object.ref.name,
    kind: object.ref.kind,
    icon: iconOf({ kind: "Resource", metadata: { name: object.ref.kind } } as EntityPart),
    readiness: readinessOf(object),
    state: stateOf(object),
    note: more > 0 && !root ? texts.entity.objects.notShown(more) : undefined,
    stale: false,
    missing: false,
    more: root ? more : 0,
  };
}

// objectsOf returns the objects of a tree by key, as graphOf names its nodes.
export function objectsOf(tree: ObjectNode): Map<string, ObjectNode> {
  const all = new Map<string, ObjectNode>();
  for (const object of walk(tree)) {
    const key = keyOf(object.ref);
    if (!all.has(key)) {
      all.set(key, object);
    }
  }
  return all;
}

// walk returns the objects of a tree, level by level.
function walk(tree: ObjectNode): ObjectNode[] {
  const all = [tree];
  // The list grows while it is read.
  for (const object of all) {
    for (const child of object.children ?? []) {
      all.push(child);
    }
  }
  return all;
}
