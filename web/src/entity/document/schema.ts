import { texts } from "../../text";

const words = texts.entity.schema;

// Schema is a schema of an OpenAPI document or a form. It is untrusted: check every value.
export type Schema = Record<string, unknown>;

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// resolve follows references within the document. The number of steps is limited because of cycles.
export function resolve(document: unknown, schema: unknown): Schema {
  let at = schema;
  for (let i = 0; i < 20; i++) {
    if (!isObject(at) || typeof at["$ref"] !== "string") {
      break;
    }
    at = lookUp(document, at["$ref"]);
  }
  return isObject(at) && typeof at["$ref"] !== "string" ? at : {};
}

function lookUp(document: unknown, ref: string): unknown {
  if (!ref.startsWith("#/")) {
    return undefined;
  }
  let at = document;
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

// refName returns the name of the referenced schema, or an empty string.
export function refName(schema: unknown): string {
  return isObject(schema) ? (text(schema["$ref"]).split("/").at(-1) ?? "") : "";
}

function short(value: unknown): string {
  const said = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return said.length > 80 ? `${said.slice(0, 79)}…` : said;
}

// typeOf describes the type of a value in one or two words.
export function typeOf(document: unknown, raw: unknown, depth = 0): string {
  const schema = resolve(document, raw);
  if (depth > 6) {
    return "any";
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    return words.or(["integer", "string"]);
  }
  const type = schema["type"];
  if (type === "array") {
    return words.list(typeOf(document, schema["items"], depth + 1));
  }
  if (type === "object" && !isObject(schema["properties"]) && isObject(schema["additionalProperties"])) {
    return words.map(typeOf(document, schema["additionalProperties"], depth + 1));
  }
  if (typeof type === "string") {
    return type;
  }
  if (Array.isArray(type)) {
    return words.or(type.filter((t) => typeof t === "string"));
  }
  if (isObject(schema["properties"])) {
    return "object";
  }
  for (const key of ["anyOf", "oneOf"]) {
    const choices = schema[key];
    if (Array.isArray(choices)) {
      const types = [...new Set(choices.map((c) => typeOf(document, c, depth + 1)))].filter((t) => t !== "any");
      if (types.length > 0) {
        return words.or(types);
      }
    }
  }
  return "any";
}

const bounds = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format", "example"] as const;

// notesOf returns the constraints of a value: enum, default and bounds.
export function notesOf(schema: Schema): string[] {
  const notes: string[] = [];
  const values = schema["enum"];
  if (Array.isArray(values)) {
    notes.push(values.length === 1 ? words.only(short(values[0])) : words.oneOf(values.slice(0, 12).map(short), Math.max(0, values.length - 12)));
  }
  if (schema["default"] !== undefined) {
    notes.push(words.default(short(schema["default"])));
  }
  for (const key of bounds) {
    if (schema[key] !== undefined) {
      notes.push(`${words.bounds[key]} ${short(schema[key])}`);
    }
  }
  if (schema["nullable"] === true) {
    notes.push(words.nullable);
  }
  if (schema["readOnly"] === true) {
    notes.push(words.readOnly);
  }
  return notes;
}

// Field is a field of an object.
export type Field = { name: string; schema: Schema; raw: unknown; required: boolean };

// fieldsOf returns the fields of an object, or of the items of a list or map.
export function fieldsOf(document: unknown, raw: unknown): Field[] {
  let schema = resolve(document, raw);
  for (let i = 0; i < 6 && !isObject(schema["properties"]); i++) {
    if (isObject(schema["items"])) {
      schema = resolve(document, schema["items"]);
    } else if (isObject(schema["additionalProperties"])) {
      schema = resolve(document, schema["additionalProperties"]);
    } else {
      break;
    }
  }
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties: Schema = {};
  const parts = Array.isArray(schema["allOf"]) ? schema["allOf"].map((part) => resolve(document, part)) : [];
  for (const part of [schema, ...parts]) {
    if (isObject(part["properties"])) {
      Object.assign(properties, part["properties"]);
    }
  }
  return Object.entries(properties).map(([name, child]) => ({ name, raw: child, schema: resolve(document, child), required: required.includes(name) }));
}
