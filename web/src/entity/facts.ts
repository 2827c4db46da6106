import { annotation, spellings } from "../api/entity";
import type { EntityPart } from "../api/types";
import type { Tone } from "../parts/Tag";
import { lookup } from "../parts/lookup";

// Made is what an entity stands for that was made of a definition.
export type Made = "definition" | "composition" | "resource";

const types: Record<string, Made> = { xrd: "definition", composition: "composition", xr: "resource" };

// madeOf says what a Resource stands for, in either vocabulary; undefined if it was not made of a definition.
export function madeOf(entity: EntityPart): Made | undefined {
  const type = entity.spec?.["type"];
  const found = typeof type === "string" ? /^(?:composer|crossplane)-(xrd|composition|xr)$/i.exec(type) : null;
  return found ? lookup(types, found[1]!.toLowerCase()) : undefined;
}

// State is how a condition stands.
export type State = "True" | "False" | "Unknown";

// Condition is one of a resource, as the cluster has it. The entity does not know what it says, nor since when.
export type Condition = { type: string; state: State; reason: string; message?: string; since?: string };

const prefixes = spellings("composer.io/condition-");

// conditionsOf are the conditions of a resource, Ready and Synced first.
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

// inOrder puts Ready and Synced first: everybody asks for these.
export function inOrder(conditions: Condition[]): Condition[] {
  const rank = (c: Condition) => ["ready", "synced"].indexOf(c.type.toLowerCase()) + 1 || 3;
  return [...conditions].sort((a, b) => rank(a) - rank(b) || a.type.localeCompare(b.type));
}

// words turns last-async-operation, and LastAsyncOperation, into Last async operation.
export function words(type: string): string {
  const text = type.replace(/([a-z0-9])([A-Z])(?=[a-z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`).replaceAll("-", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Readiness is whether something can be used. Only resources have one.
export type Readiness = "ready" | "not ready" | "unknown";

// readinessOf is what the condition Ready says. A resource that does not say is unknown; what is no resource has none.
export function readinessOf(entity: EntityPart): Readiness | undefined {
  const conditions = conditionsOf(entity);
  return conditions.length > 0 || madeOf(entity) === "resource" ? readyIn(conditions) : undefined;
}

// readyIn is what conditions say about readiness.
export function readyIn(conditions: Condition[]): Readiness {
  const ready = conditions.find((c) => c.type.toLowerCase() === "ready");
  if (!ready) {
    return "unknown";
  }
  return ready.state === "True" ? "ready" : ready.state === "False" ? "not ready" : "unknown";
}

export const tones: Record<Readiness, Tone> = { ready: "good", "not ready": "bad", unknown: "doubt" };
export const toneOf: Record<State, Tone> = { True: "good", False: "bad", Unknown: "doubt" };

// vendor finds what the portal's vendor notes about a resource, under either name.
function vendor(entity: EntityPart, key: string): string {
  const all = entity.metadata?.annotations;
  return all?.[`composer.vendor.io/${key}`] ?? all?.[`crossplane.terasky.io/${key}`] ?? "";
}

// Thing is the object in a cluster that a Resource stands for.
export type Thing = { name: string; namespace: string; cluster: string; kind: string; apiVersion: string };

// thingOf is the object behind a Resource; undefined if there is none.
export function thingOf(entity: EntityPart): Thing | undefined {
  const name = vendor(entity, "xr-name");
  if (name === "" || madeOf(entity) !== "resource") {
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
