import { annotation, annotations, specText } from "./entity";
import type { EntityPart } from "./types";
import { texts } from "../text";

// Ready says whether something is ready.
export type Ready = "ready" | "not ready" | "unknown";

// Readiness is the readiness of an entity as pages show it.
export type Readiness = {
  value: Ready;
  // since is when the value last changed; empty if that is unknown.
  since: string;
  // lastKnown is the value before the entity became stale; empty if it is not stale, or if the value was unknown.
  lastKnown: string;
};

const titles = texts.api.readiness;

// readinessTitle returns a readiness as pages write it.
export function readinessTitle(value: string): string {
  return Object.hasOwn(titles, value) ? titles[value as Ready] : value;
}

// readinessOf returns the readiness of an entity, or undefined if it has none. A stale entity has its last known value, which
// may have changed since, so its readiness is unknown.
export function readinessOf(entity: EntityPart): Readiness | undefined {
  const value = specText(entity, "readiness");
  if (value === "") {
    return undefined;
  }
  const known = value === "ready" || value === "not ready";
  if (annotation(entity, annotations.stale) !== "") {
    return { value: "unknown", since: "", lastKnown: known ? value : "" };
  }
  return { value: known ? value : "unknown", since: specText(entity, "readinessSince"), lastKnown: "" };
}
