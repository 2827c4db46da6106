import type { Node } from "./gather";

// kindOf returns the role of a node, or its kind.
export function kindOf(node: Node): string {
  return node.role ?? node.kind;
}
