import { texts } from "../../text";
import type { Node } from "./gather";

// kindOf returns the role of a node, or its kind.
export function kindOf(node: Node): string {
  return node.role ?? node.kind;
}

// kindTitle returns the role or kind of a node as pages write it.
export function kindTitle(node: Node): string {
  return node.role ? texts.entity.roles[node.role] : node.kind;
}
