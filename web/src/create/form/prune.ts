import { has, isObject, type Schema, type Values } from "./types";

// prune returns the values to send: empty fields are absent, neither null nor "", and lists have no gaps. An empty object
// or list stays if it is required or has a default, so that users can clear the default.
export function prune(value: unknown, schema: unknown): Values | undefined {
  return isObject(value) ? object(value, isObject(schema) ? schema : {}) : undefined;
}

function object(values: Values, schema: Schema): Values {
  const out: Values = {};
  const properties = propertiesOf(schema, values);
  for (const [key, value] of Object.entries(values)) {
    const s = properties.schemas.get(key) ?? (isObject(schema["additionalProperties"]) ? schema["additionalProperties"] : {});
    const next = one(value, s);
    if (next === undefined) {
      continue;
    }
    const known = properties.schemas.has(key);
    if (known && isEmpty(next) && !properties.required.has(key) && !has(s, "default")) {
      continue;
    }
    out[key] = next;
  }
  return out;
}

function one(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const items = isObject(schema["items"]) ? schema["items"] : {};
    return value.filter((v) => v !== undefined && (v !== null || takesNull(items))).map((v) => one(v, items));
  }
  if (isObject(value)) {
    // YAML input is sent unchanged.
    return schema["ui:field"] === "YamlText" || isFree(schema) ? value : object(value, schema);
  }
  return value;
}

// isFree reports whether a schema does not restrict its contents.
function isFree(schema: Schema): boolean {
  return !["properties", "additionalProperties", "oneOf", "anyOf", "allOf", "dependencies", "if"].some((key) => isObject(schema[key]) || Array.isArray(schema[key]));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function takesNull(schema: Schema): boolean {
  const type = schema["type"];
  if (type === undefined) {
    return Array.isArray(schema["enum"]) ? schema["enum"].includes(null) : true;
  }
  return type === "null" || (Array.isArray(type) && type.includes("null"));
}

type Properties = { schemas: Map<string, Schema>; required: Set<string> };

// propertiesOf returns all properties of a schema, including conditional ones.
export function propertiesOf(schema: Schema, values?: Values): Properties {
  const out: Properties = { schemas: new Map(), required: new Set() };
  collect(schema, out, values, 0);
  return out;
}

function collect(schema: unknown, out: Properties, values: Values | undefined, depth: number) {
  if (!isObject(schema) || depth > 16) {
    return;
  }
  if (isObject(schema["properties"])) {
    for (const [key, s] of Object.entries(schema["properties"])) {
      if (isObject(s) && !out.schemas.has(key)) {
        out.schemas.set(key, s);
      }
    }
  }
  if (depth === 0 && Array.isArray(schema["required"])) {
    schema["required"].forEach((key) => out.required.add(String(key)));
  }
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    if (Array.isArray(schema[key])) {
      schema[key].forEach((s) => collect(s, out, values, depth + 1));
    }
  }
  for (const key of ["then", "else"]) {
    collect(schema[key], out, values, depth + 1);
  }
  if (isObject(schema["dependencies"])) {
    Object.values(schema["dependencies"]).forEach((s) => collect(s, out, values, depth + 1));
  }
}
