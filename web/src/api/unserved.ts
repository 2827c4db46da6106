import { annotation, annotations } from "./entity";
import type { EntityPart } from "./types";

// Unserved is a condition of an XRD because of which a cluster does not serve the resource that a Template creates.
export type Unserved = { cluster: string; condition: string; status: string; reason?: string; message?: string };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

// unservedBy returns the clusters that do not serve a resource, from the entity's annotation. An invalid annotation means
// none.
export function unservedBy(entity: EntityPart): Unserved[] {
  let list: unknown;
  try {
    list = JSON.parse(annotation(entity, annotations.unserved) || "[]");
  } catch {
    return [];
  }
  return (Array.isArray(list) ? list : []).flatMap((u: unknown) => {
    const condition = isObject(u) ? text(u["condition"]) : undefined;
    const status = isObject(u) ? text(u["status"]) : undefined;
    if (!isObject(u) || !condition || !status) {
      return [];
    }
    return [{ cluster: text(u["cluster"]) ?? "", condition, status, reason: text(u["reason"]), message: text(u["message"]) }];
  });
}

// inWords formats a condition as one line, as the backend does.
export function inWords(u: Omit<Unserved, "cluster">): string {
  return [`${u.condition} is ${u.status}`, u.reason, u.message].filter(Boolean).join(": ");
}
