import { expect, test } from "vitest";
import type { EntityPart } from "./types";
import { readinessOf, readinessTitle } from "./readiness";

const since = "2026-01-01T00:00:00Z";
const entity = (spec: object, annotations: Record<string, string> = {}) => ({ kind: "Resource", metadata: { name: "x", annotations }, spec }) as EntityPart;

test.each([
  ["no readiness", entity({ type: "x" }), undefined],
  ["not a text", entity({ readiness: true }), undefined],
  ["ready", entity({ readiness: "ready", readinessSince: since }), { value: "ready", since, lastKnown: "" }],
  ["not ready", entity({ readiness: "not ready" }), { value: "not ready", since: "", lastKnown: "" }],
  ["unknown", entity({ readiness: "unknown" }), { value: "unknown", since: "", lastKnown: "" }],
  ["another word", entity({ readiness: "fine" }), { value: "unknown", since: "", lastKnown: "" }],
  ["stale, was ready", entity({ readiness: "ready", readinessSince: since }, { "portal.io/stale": "prod/composites" }), { value: "unknown", since: "", lastKnown: "ready" }],
  ["stale in Backstage's words", entity({ readiness: "not ready" }, { "backstage.io/stale": "prod/composites" }), { value: "unknown", since: "", lastKnown: "not ready" }],
  ["stale, was unknown", entity({ readiness: "unknown" }, { "portal.io/stale": "prod/composites" }), { value: "unknown", since: "", lastKnown: "" }],
])("readiness: %s", (_, given, want) => expect(readinessOf(given)).toEqual(want));

test("titles", () => {
  expect(["ready", "not ready", "unknown", "toString"].map(readinessTitle)).toEqual(["Ready", "Not ready", "Unknown", "toString"]);
});
