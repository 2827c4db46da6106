import { unicodePattern } from "./pattern";
import { isObject, type Schema } from "./types";
import { isFormat } from "./formats";

const single = ["not", "if", "then", "else", "additionalProperties", "additionalItems", "contains", "propertyNames"];
const several = ["allOf", "anyOf", "oneOf"];
const named = ["properties", "patternProperties", "definitions", "$defs"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum", "multipleOf"];
const types = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

// prepare normalizes a schema for the validator. It drops invalid parts; the server reports those.
export function prepare(schema: unknown): Schema | boolean {
  if (typeof schema === "boolean") {
    return schema;
  }
  const out: Schema = {};
  if (!isObject(schema)) {
    return out;
  }
  // Siblings of $ref do not apply, but it may point into them.
  if (typeof schema["$ref"] === "string") {
    out["$ref"] = schema["$ref"];
  }
  for (const key of single) {
    if (isObject(schema[key]) || typeof schema[key] === "boolean") {
      out[key] = prepare(schema[key]);
    }
  }
  for (const key of several) {
    if (Array.isArray(schema[key])) {
      out[key] = schema[key].map(prepare);
    }
  }
  for (const key of named) {
    const part = schema[key];
    if (isObject(part)) {
      out[key] = Object.fromEntries(Object.entries(part).flatMap(([name, s]) => keyed(key, name, prepare(s))));
    }
  }
  items(schema, out);
  dependencies(schema, out);
  scalars(schema, out);
  return out;
}

// keyed drops the schema of an unsupported pattern.
function keyed(key: string, name: string, schema: Schema | boolean): [string, Schema | boolean][] {
  if (key !== "patternProperties") {
    return [[name, schema]];
  }
  const pattern = unicodePattern(name);
  return pattern === undefined ? [] : [[pattern, schema]];
}

function items(schema: Schema, out: Schema) {
  const part = schema["items"];
  if (Array.isArray(part)) {
    out["items"] = part.map(prepare);
  } else if (isObject(part) || typeof part === "boolean") {
    out["items"] = prepare(part);
  }
}

function dependencies(schema: Schema, out: Schema) {
  const part = schema["dependencies"];
  if (!isObject(part)) {
    return;
  }
  out["dependencies"] = Object.fromEntries(
    Object.entries(part).map(([name, s]) => [name, typeof s === "string" ? [s] : Array.isArray(s) ? s.filter((k) => typeof k === "string") : prepare(s)]),
  );
}

function scalars(schema: Schema, out: Schema) {
  const type = schema["type"];
  if (typeof type === "string" && types.has(type)) {
    out["type"] = type;
  } else if (Array.isArray(type) && type.every((t) => typeof t === "string" && types.has(t))) {
    out["type"] = type;
  }
  for (const key of counts) {
    if (typeof schema[key] === "number") {
      out[key] = schema[key];
    }
  }
  // In older schemas, true makes the bound exclusive.
  for (const [exclusive, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof schema[exclusive] === "number") {
      out[exclusive] = schema[exclusive];
    } else if (schema[exclusive] === true && typeof schema[bound] === "number") {
      out[exclusive] = schema[bound];
      delete out[bound];
    }
  }
  if (Array.isArray(schema["required"])) {
    out["required"] = schema["required"].filter((k) => typeof k === "string");
  }
  if (Array.isArray(schema["enum"])) {
    out["enum"] = schema["enum"];
  }
  if ("const" in schema) {
    out["const"] = schema["const"];
  }
  if (schema["uniqueItems"] === true) {
    out["uniqueItems"] = true;
  }
  if (typeof schema["format"] === "string" && isFormat(schema["format"])) {
    out["format"] = schema["format"];
  }
  if (typeof schema["pattern"] === "string") {
    const pattern = unicodePattern(schema["pattern"]);
    if (pattern !== undefined) {
      out["pattern"] = pattern;
    }
  }
}
