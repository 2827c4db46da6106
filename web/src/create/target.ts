import type { EntityPart } from "../api/types";
import { isObject, type Schema } from "./form/types";

// plainInput matches the input of a step that is the field cluster.
const plainInput = /^\s*\$\{\{\s*parameters\.cluster\s*\}\}\s*$/;

// clusterField returns the field of a form that asks for the cluster; undefined if there is none. In generated forms it is
// deliveryCluster, and cluster is a field of the definition. A Template written by hand may have a field cluster that it
// passes to a step. The server decides in the same way.
export function clusterField(template: EntityPart | undefined, properties: ReadonlyMap<string, Schema>): string | undefined {
  if (properties.has("deliveryCluster")) {
    return "deliveryCluster";
  }
  const steps = (template?.spec as Record<string, unknown> | undefined)?.["steps"];
  const passed = Array.isArray(steps) && steps.some((s) => isObject(s) && isObject(s["input"]) && plainInput.test(String(s["input"]["cluster"])));
  return passed && properties.has("cluster") ? "cluster" : undefined;
}
