import { describe, expect, it } from "vitest";
import { countBreaking, judge } from "./breaking";
import { diff, linesOf } from "./diff";

type Case = { reason: string; before: object; after: object; want: string[]; breaking: number };

// one returns a schema with one field.
const one = (field: object, required = false) => ({ properties: { f: field }, required: required ? ["f"] : [] });

const cases: Record<string, Case> = {
  removed: { reason: "a manifest with the field loses it", before: one({ type: "string" }), after: { properties: {} }, want: ["Removed"], breaking: 1 },
  "new and required": { reason: "a manifest without the field is refused", before: { properties: {} }, after: one({ type: "string" }, true), want: ["New and required"], breaking: 1 },
  "new and required with default": { reason: "the API server fills it in", before: { properties: {} }, after: one({ type: "string", default: "a" }, true), want: [], breaking: 0 },
  "new and optional": { reason: "requests need not set it", before: { properties: {} }, after: one({ type: "string" }), want: [], breaking: 0 },
  "newly required": { reason: "a manifest without the field is refused", before: one({ type: "string" }), after: one({ type: "string" }, true), want: ["Now required"], breaking: 1 },
  "no longer required": { reason: "it may still be set", before: one({ type: "string" }, true), after: one({ type: "string" }), want: [], breaking: 0 },
  "other type": { reason: "values of the old type are refused", before: one({ type: "string" }), after: one({ type: "integer" }), want: ["Type changed from string to integer"], breaking: 1 },
  "wider type": { reason: "an integer is a number", before: one({ type: "integer" }), after: one({ type: "number" }), want: [], breaking: 0 },
  "integer or string": { reason: "an integer is one of them", before: one({ type: "integer" }), after: one({ "x-kubernetes-int-or-string": true }), want: [], breaking: 0 },
  "narrower enum": { reason: "a value is refused now", before: one({ enum: ["a", "b"] }), after: one({ enum: ["b", "c"] }), want: ["No longer allowed: a"], breaking: 1 },
  "wider enum": { reason: "all old values are allowed", before: one({ enum: ["a"] }), after: one({ enum: ["a", "b"] }), want: [], breaking: 0 },
  "enum added": { reason: "any value was allowed", before: one({ type: "string" }), after: one({ type: "string", enum: ["a"] }), want: ["Only listed values are allowed now"], breaking: 1 },
  "higher minimum": { reason: "smaller values are refused", before: one({ type: "integer", minimum: 1 }), after: one({ type: "integer", minimum: 3 }), want: ["New minimum: 3"], breaking: 1 },
  "higher maximum": { reason: "all old values are allowed", before: one({ type: "integer", maximum: 1 }), after: one({ type: "integer", maximum: 3 }), want: [], breaking: 0 },
  "minLength 0": { reason: "every text has at least 0 characters", before: one({ type: "string" }), after: one({ type: "string", minLength: 0 }), want: [], breaking: 0 },
  pattern: { reason: "values that do not match are refused", before: one({ type: "string" }), after: one({ type: "string", pattern: "^a" }), want: ["New pattern"], breaking: 1 },
  "other default": { reason: "no manifest is refused", before: one({ type: "integer", default: 7 }), after: one({ type: "integer", default: 14 }), want: ["Default changed from 7 to 14"], breaking: 0 },
  description: { reason: "a text changes nothing", before: one({ description: "a" }), after: one({ description: "b" }), want: [], breaking: 0 },
};

describe("judge", () => {
  it.each(Object.entries(cases))("%s", (_, { reason, before, after, want, breaking }) => {
    const judged = judge(diff(linesOf(before, before), linesOf(after, after)));
    expect(judged.flatMap((d) => d.effect.says), reason).toEqual(want);
    expect(countBreaking(judged), reason).toBe(breaking);
  });

  it("counts a removed object once, and lists breaking changes first", () => {
    const before = { properties: { a: { type: "string" }, backup: { type: "object", properties: { days: { type: "integer" }, at: { type: "string" } } } } };
    const after = { properties: { new: { type: "string" }, a: { type: "string", description: "x" } } };
    const judged = judge(diff(linesOf(before, before), linesOf(after, after)));
    expect(judged.map((d) => d.path)).toEqual(["backup", "backup.days", "backup.at", "new", "a"]);
    expect(countBreaking(judged)).toBe(1);
  });

  it("does not call a required field of a new optional object breaking", () => {
    const after = { properties: { backup: { type: "object", required: ["days"], properties: { days: { type: "integer" } } } } };
    expect(countBreaking(judge(diff([], linesOf(after, after))))).toBe(0);
  });
});
