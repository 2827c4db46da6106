import { expect, it } from "vitest";
import type { EntityPart } from "../api/types";
import { kindTitle, roleTitle } from "./roles";

function entity(kind: string, type: string, annotations: Record<string, string> = {}): EntityPart {
  return { kind, metadata: { name: "it", annotations }, spec: { type } } as unknown as EntityPart;
}

it.each([
  ["a definition", entity("Resource", "crossplane-xrd"), "Definition (XRD)", "Definition (XRD)"],
  ["a composition", entity("Resource", "composer-composition"), "Composition", "Composition"],
  ["a composite of a known kind", entity("Resource", "crossplane-xr", { "crossplane.terasky.io/xr-kind": "Database" }), "Composite resource", "Database"],
  ["a composite of a kind in the neutral vocabulary", entity("Resource", "composer-xr", { "composer.vendor.io/xr-kind": "Bucket" }), "Composite resource", "Bucket"],
  ["a composite of an unknown kind", entity("Resource", "composer-xr"), "Composite resource", "Composite resource"],
  ["another resource", entity("Resource", "database"), "Resource", "Resource"],
  ["a component", entity("Component", "service"), "Component", "Component"],
])("names %s", (_, of, role, kind) => {
  expect(roleTitle(of)).toBe(role);
  expect(kindTitle(of)).toBe(kind);
});
