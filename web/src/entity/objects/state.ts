import type { Schemas } from "../../api/types";
import { texts } from "../../text";
import type { Tone } from "../../components/Tag";
import type { Readiness } from "../facts";

const words = texts.entity.objects;

// ObjectNode is an object in the tree of a resource.
export type ObjectNode = Schemas["ResourceNode"];

// keyOf identifies an object.
export function keyOf({ apiVersion, kind, namespace = "", name }: ObjectNode["ref"]): string {
  return `object ${apiVersion} ${kind} ${namespace} ${name}`;
}

// stateOf returns the state of an object as pages write it, if it is not its readiness.
export function stateOf(node: ObjectNode): string | undefined {
  const { stateTitles: titles } = words;
  if (node.state !== "present") {
    return titles[node.state];
  }
  return node.deleted ? titles.deleting : node.paused ? titles.paused : undefined;
}

// toneOf returns the tone of the state of an object.
export function toneOf(node: ObjectNode): Tone {
  if (node.state === "missing") {
    return "error";
  }
  return node.state === "present" && node.deleted ? "progress" : "warning";
}

// readinessOf returns the readiness of an object: one that does not exist is not ready, one that cannot be read is
// unknown. It returns undefined for an object that has none, such as a ConfigMap.
export function readinessOf(node: ObjectNode): Readiness | undefined {
  if (node.state !== "present") {
    return node.state === "missing" ? "not ready" : "unknown";
  }
  return node.readiness === "none" ? undefined : node.readiness;
}

// said returns what is worth knowing about an object: why it cannot be read, what a condition says, or the last warning. Only
// operators are told how to make it readable.
export function said(node: ObjectNode, operator: boolean): string {
  if (node.problem && (operator || !["forbidden", "unreadable"].includes(node.state))) {
    return node.problem;
  }
  if (node.state !== "present") {
    return words.states[node.state];
  }
  if (node.loop) {
    return words.loop;
  }
  for (const type of ["Synced", "Ready"]) {
    const c = node.conditions?.find((c) => c.type === type && c.status !== "True");
    if (c) {
      return [c.reason, c.message].filter(Boolean).join(": ");
    }
  }
  return node.event?.type === "Warning" ? (node.event.message ?? "") : "";
}

// countObjects returns the number of objects of a tree, also of those that are not loaded. Loops are counted once.
export function countObjects(node: ObjectNode): number {
  return (node.loop ? 0 : 1) + (node.more ?? 0) + (node.children ?? []).reduce((sum, child) => sum + countObjects(child), 0);
}
