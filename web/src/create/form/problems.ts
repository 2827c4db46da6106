import { dereference, validate, type OutputUnit } from "@cfworker/json-schema";
import { setFormats } from "./formats";
import { prepare } from "./prepare";
import { isObject, type Path, type Problem, type Schema } from "./types";
import { validationMessage } from "./messages";
import { texts } from "../../text";

setFormats();

type Compiled = { schema: Schema | boolean; lookup: ReturnType<typeof dereference> };

// Compiled schemas are cached: a form validates against the same ones on every key press.
const compiled = new WeakMap<object, Compiled>();

function compile(schema: unknown): Compiled {
  const known = isObject(schema) ? compiled.get(schema) : undefined;
  if (known) {
    return known;
  }
  const prepared = prepare(schema);
  const made = { schema: prepared, lookup: dereference(prepared as never) };
  if (isObject(schema)) {
    compiled.set(schema, made);
  }
  return made;
}

// check validates a value against a schema and returns the problems. An unusable schema has none: the server decides and
// reports it.
export function check(schema: unknown, value: unknown): Problem[] {
  try {
    const { schema: s, lookup } = compile(schema);
    const result = validate(value, s as never, "7", lookup, false);
    return result.valid ? [] : distinct(leaves(result.errors, s, value));
  } catch {
    return [];
  }
}

// fits reports whether a value is valid.
export function fits(schema: unknown, value: unknown): boolean {
  try {
    const { schema: s, lookup } = compile(schema);
    return validate(value, s as never, "7", lookup, true).valid;
  } catch {
    return false;
  }
}

// Keywords that only report an error further inside.
const wrappers = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "allOf",
  "if",
  "$ref",
  "dependentSchemas",
  "propertyNames",
]);

// leaves selects the errors that users can act on.
function leaves(units: OutputUnit[], root: Schema | boolean, value: unknown): Problem[] {
  const out: Problem[] = [];
  for (let i = 0; i < units.length; i++) {
    const unit = units[i]!;
    if (unit.keyword === "oneOf" || unit.keyword === "anyOf") {
      const inside: OutputUnit[] = [];
      while (i + 1 < units.length && units[i + 1]!.keywordLocation.startsWith(`${unit.keywordLocation}/`)) {
        inside.push(units[++i]!);
      }
      out.push(...choice(unit, inside, root, value));
      continue;
    }
    if (wrappers.has(unit.keyword)) {
      continue;
    }
    const problem = leaf(unit, root, value);
    if (problem) {
      out.push(problem);
    }
  }
  return out;
}

// choice explains why a value matches none or too many of several schemas: it returns the errors of the closest one.
function choice(unit: OutputUnit, inside: OutputUnit[], root: Schema | boolean, value: unknown): Problem[] {
  const path = pathOf(unit.instanceLocation);
  const several = { path, keyword: unit.keyword, message: validationMessage(unit.keyword, {}, undefined) };
  const matches = /\((\d+) matches\)/.exec(unit.error)?.[1];
  if (matches !== undefined && matches !== "0") {
    return [several];
  }
  const branches = new Map<string, OutputUnit[]>();
  for (const one of inside) {
    const index = one.keywordLocation.slice(unit.keywordLocation.length + 1).split("/")[0]!;
    branches.set(index, [...(branches.get(index) ?? []), one]);
  }
  const found = [...branches.values()].map((units) => leaves(units, root, value));
  if (found.length > 1 && found.every((b) => b.length === 1 && b[0]!.keyword === "type" && b[0]!.path.length === path.length)) {
    const types = inside.filter((one) => one.keyword === "type").map((one) => follow(root, one.keywordLocation));
    return [{ path, keyword: "type", message: validationMessage("type", { type: [...new Set(types.flat())] }, undefined) }];
  }
  const best = found.filter((b) => b.length > 0).sort((a, b) => distance(a) - distance(b))[0];
  return best ?? [several];
}

// distance estimates how far a value is from a schema. A wrong type or constant counts most.
function distance(problems: Problem[]): number {
  return problems.reduce((sum, p) => sum + (p.keyword === "enum" || p.keyword === "const" || p.keyword === "type" ? 100 : 1), 0);
}

function leaf(unit: OutputUnit, root: Schema | boolean, value: unknown): Problem | undefined {
  const path = pathOf(unit.instanceLocation);
  if (unit.keyword === "required") {
    const key = /required property "([\s\S]*)"\.$/.exec(unit.error)?.[1] ?? "";
    return { path: [...path, key], keyword: "required", message: validationMessage("required", {}, undefined) };
  }
  if (unit.keyword === "dependencies" || unit.keyword === "dependentRequired") {
    const match = /^Instance has "([\s\S]*)" but does not have "([\s\S]*)"\.$/.exec(unit.error);
    return match ? { path: [...path, match[2]!], keyword: "required", message: texts.create.message.requiredBecause(match[1]!) } : undefined;
  }
  const pointer = unit.keywordLocation.replace(/\/[^/]*$/, "");
  const schema = follow(root, pointer);
  return { path, keyword: unit.keyword, message: validationMessage(unit.keyword, isObject(schema) ? schema : {}, valueAt(value, path)) };
}

function distinct(problems: Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter((p) => {
    const key = JSON.stringify([p.path, p.message]);
    return seen.has(key) ? false : (seen.add(key), true);
  });
}

function segments(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((s) => s.replace(/~1/g, "/").replace(/~0/g, "~"));
}

// pathOf parses a JSON pointer. Array indexes stay strings, which makes no difference for lookups.
function pathOf(pointer: string): Path {
  return segments(pointer);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, step) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[String(step)] : undefined), value);
}

// follow resolves a pointer in a schema, including references.
function follow(root: Schema | boolean, pointer: string): unknown {
  let at: unknown = root;
  for (const step of segments(pointer)) {
    if (typeof at !== "object" || at === null) {
      return undefined;
    }
    at = (at as Record<string, unknown>)[step];
    if (step === "$ref" && typeof at === "string") {
      at = at.startsWith("#") ? follow(root, at) : undefined;
    }
  }
  return at;
}
