import { annotation, spellings } from "../api/entity";
import type { Ready } from "../api/readiness";
import type { EntityPart, Schemas } from "../api/types";
import type { Tone } from "../components/Tag";
import { lookup } from "../components/lookup";

// Role is what a Resource generated from a definition represents.
export type Role = "definition" | "composition" | "resource";

const types: Record<string, Role> = { xrd: "definition", composition: "composition", xr: "resource" };

// roleOf returns what a Resource represents, in either vocabulary; undefined if it was not generated from a definition.
export function roleOf(entity: EntityPart): Role | undefined {
  const type = entity.spec?.["type"];
  const found = typeof type === "string" ? /^(?:composer|crossplane)-(xrd|composition|xr)$/i.exec(type) : null;
  return found ? lookup(types, found[1]!.toLowerCase()) : undefined;
}

// State is the status of a condition.
export type State = "True" | "False" | "Unknown";

// Condition is a condition of a resource. The entity has neither message nor time; the cluster has both.
export type Condition = { type: string; state: State; reason: string; message?: string; since?: string };

const prefixes = spellings("composer.io/condition-");

// conditionsOf returns the conditions in an entity's annotations, Ready and Synced first.
export function conditionsOf(entity: EntityPart): Condition[] {
  const found: Condition[] = [];
  for (const [key, value] of Object.entries(entity.metadata?.annotations ?? {})) {
    const prefix = prefixes.find((p) => key.startsWith(p));
    if (prefix === undefined) {
      continue;
    }
    const parts = /^(True|False|Unknown)(?: \((.*)\))?$/.exec(value);
    if (parts) {
      found.push({ type: key.slice(prefix.length), state: parts[1] as State, reason: parts[2] ?? "" });
    }
  }
  return inOrder(found);
}

// inOrder sorts Ready and Synced first.
export function inOrder(conditions: Condition[]): Condition[] {
  const rank = (c: Condition) => ["ready", "synced"].indexOf(c.type.toLowerCase()) + 1 || 3;
  return [...conditions].sort((a, b) => rank(a) - rank(b) || a.type.localeCompare(b.type));
}

// conditionTitle turns last-async-operation and LastAsyncOperation into Last async operation.
export function conditionTitle(type: string): string {
  const text = type.replace(/([a-z0-9])([A-Z])(?=[a-z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`).replaceAll("-", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Readiness is whether a resource is ready.
export type Readiness = Ready;

// readyIn returns the readiness according to conditions.
export function readyIn(conditions: Condition[]): Ready {
  const ready = conditions.find((c) => c.type.toLowerCase() === "ready");
  if (!ready) {
    return "unknown";
  }
  return ready.state === "True" ? "ready" : ready.state === "False" ? "not ready" : "unknown";
}

// readinessNow returns the readiness of a resource by what its cluster reports. A part that fails is a reason even if the
// resource itself has not reported it yet.
export function readinessNow({ tree, reason }: Schemas["ResourceStatus"]): Ready | "none" {
  return tree.readiness === "unknown" && (reason?.path ?? []).length > 0 ? "not ready" : tree.readiness;
}

export const toneOf: Record<State, Tone> = { True: "success", False: "error", Unknown: "warning" };

// vendor returns a vendor annotation of a resource, in either vocabulary.
function vendor(entity: EntityPart, key: string): string {
  const all = entity.metadata?.annotations;
  return all?.[`composer.vendor.io/${key}`] ?? all?.[`crossplane.terasky.io/${key}`] ?? "";
}

// objectKind returns the kind of the cluster object of a Resource; empty if it is not known.
export function objectKind(entity: EntityPart): string {
  return roleOf(entity) === "resource" ? vendor(entity, "xr-kind") : "";
}

// ClusterObject is the cluster object of a Resource.
export type ClusterObject = { name: string; namespace: string; cluster: string; kind: string; apiVersion: string };

// objectOf returns the cluster object of a Resource, or undefined.
export function objectOf(entity: EntityPart): ClusterObject | undefined {
  const name = vendor(entity, "xr-name");
  if (name === "" || roleOf(entity) !== "resource") {
    return undefined;
  }
  return {
    name,
    namespace: annotation(entity, "portal.io/cluster-namespace"),
    cluster: annotation(entity, "portal.io/discovered-from"),
    kind: vendor(entity, "xr-kind"),
    apiVersion: vendor(entity, "xr-apiversion"),
  };
}
