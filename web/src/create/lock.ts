import { annotation, annotations } from "../api/entity";
import type { EntityPart } from "../api/types";
import { unservedBy, type Unserved } from "../api/unserved";
import { isObject, type Values } from "./form/types";

const applies = ["cluster:apply", "kubernetes:apply"];

// lockOf returns why a Template cannot be run with these values: the conditions of the selected cluster. only is the single
// writable cluster, for forms without a cluster field. Change requests need no cluster.
export function lockOf(template: EntityPart | undefined, values: Values, only: string | undefined): Unserved[] {
  const unserved = template ? unservedBy(template) : [];
  const steps = (template?.spec as Record<string, unknown> | undefined)?.["steps"];
  const writes = Array.isArray(steps) && steps.some((s) => isObject(s) && applies.includes(String(s["action"])));
  if (!template || !writes || values["delivery"] === "change-request") {
    return [];
  }
  const chosen = values["deliveryCluster"];
  const cluster = typeof chosen === "string" && chosen !== "" ? chosen : only;
  if (cluster !== undefined) {
    return unserved.filter((u) => u.cluster === cluster);
  }
  // Any selected cluster is one of those that have the definition.
  const all = annotation(template, annotations.discoveredFrom).split(",");
  return all.every((name) => unserved.some((u) => u.cluster === name)) ? unserved : [];
}
