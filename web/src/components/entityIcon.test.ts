import { expect, it } from "vitest";
import type { EntityPart } from "../api/types";
import { iconOf } from "./entityIcon";

it.each([
  ["by its type", { kind: "Resource", metadata: { name: "orders" }, spec: { type: "database" } }, "database"],
  ["by its title", { kind: "Template", metadata: { name: "x", title: "Message queue" } }, "queue"],
  ["by a name in one word", { kind: "Template", metadata: { name: "xpostgresqlinstances.example.org" } }, "database"],
  ["by its title before its tags", { kind: "Template", metadata: { name: "x", title: "Certificate", tags: ["network"] } }, "certificate"],
  ["by its tags if nothing else tells", { kind: "Template", metadata: { name: "x", tags: ["redis"] } }, "cache"],
  ["as a definition", { kind: "Resource", metadata: { name: "databases.example.org" }, spec: { type: "crossplane-xrd" } }, "definition"],
  ["by its kind", { kind: "Group", metadata: { name: "databases" } }, "group"],
  ["if its kind is unknown", { kind: "Odd", metadata: { name: "x" } }, "unknown"],
])("shows an entity %s", (_, entity, want) => {
  expect(iconOf(entity as EntityPart)).toBe(want);
});
