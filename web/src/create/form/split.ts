import { dropUnknownNames, knownUi } from "./names";
import { has, isObject, type Schema } from "./types";

// Split is a page of a form as the form component takes it: what may be filled in, and how it is shown.
export type Split = { schema: Schema; ui: Schema; fields: number };

// split takes the ui: keywords out of a page and gives them a tree of their own. It also says in the component's words what
// the portal's forms say in theirs: numbers that may be text, choices between groups of fields, names of choices.
export function split(page: unknown): Split {
  const root = isObject(page) ? page : {};
  const count = { fields: 0, root };
  const [schema, ui] = walk(root, count, 0);
  return { schema: { type: "object", ...schema, title: undefined, description: undefined }, ui, fields: count.fields };
}

// Count is how many fields were seen, and the page they are on.
type Count = { fields: number; root: Schema };

function walk(from: Schema, count: Count, depth: number): [Schema, Schema] {
  const schema: Schema = {};
  const ui: Schema = {};
  for (const [key, value] of Object.entries(from)) {
    if (key.startsWith("ui:")) {
      ui[key] = value;
    } else if (key !== "__proto__") {
      schema[key] = value;
    }
  }
  dropUnknownNames(schema);
  const ref = from["$ref"];
  if (ref !== undefined && !leadsSomewhere(count.root, ref)) {
    return broken(from, `cannot resolve $ref ${JSON.stringify(ref)}`);
  }
  delete schema["enumNames"];
  if (Array.isArray(from["enumNames"])) {
    ui["ui:enumNames"] = from["enumNames"];
  }
  if (depth > 64) {
    return [schema, ui];
  }
  named(from, schema, ui, "properties", count, depth);
  named(from, schema, ui, "patternProperties", count, depth);
  const [items, itemsUi] = inside(from["items"], count, depth);
  if (items) {
    schema["items"] = items;
    ui["items"] = itemsUi;
  }
  const [more, moreUi] = inside(from["additionalProperties"], count, depth);
  if (more) {
    schema["additionalProperties"] = more;
    ui["additionalProperties"] = moreUi;
  }
  choices(from, schema, ui, count, depth);
  conditions(from, schema, ui, count, depth);
  definitions(from, schema, count, depth);
  const known = knownUi(schema, ui);
  special(schema, known);
  return [schema, known];
}

// broken is a field that the form names and says why it cannot be shown.
function broken(from: Schema, reason: string): [Schema, Schema] {
  return [typeof from["title"] === "string" ? { title: from["title"] } : { title: "" }, { "ui:field": "Broken", "ui:reason": reason }];
}

// leadsSomewhere says whether a reference has a target on the page. A missing one would take the whole form with it.
function leadsSomewhere(root: Schema, ref: unknown): boolean {
  if (typeof ref !== "string" || !ref.startsWith("#")) {
    return false;
  }
  let at: unknown = root;
  for (const step of ref.slice(1).split("/").slice(1)) {
    const key = decoded(step).replace(/~1/g, "/").replace(/~0/g, "~");
    if (typeof at !== "object" || at === null || !has(at, key)) {
      return false;
    }
    at = (at as Record<string, unknown>)[key];
  }
  return isObject(at) || typeof at === "boolean";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// definitions are schemas that others refer to. How they are shown is said where they are used.
function definitions(from: Schema, schema: Schema, count: Count, depth: number) {
  for (const key of ["definitions", "$defs"]) {
    const part = from[key];
    if (isObject(part)) {
      schema[key] = Object.fromEntries(Object.entries(part).map(([name, s]) => [name, isObject(s) ? walk(s, { ...count }, depth + 1)[0] : s]));
    }
  }
}

function inside(part: unknown, count: Count, depth: number): [Schema, Schema] | [undefined, undefined] {
  return isObject(part) ? walk(part, count, depth + 1) : [undefined, undefined];
}

function named(from: Schema, schema: Schema, ui: Schema, key: string, count: Count, depth: number) {
  const part = from[key];
  if (!isObject(part)) {
    return;
  }
  const out: Schema = {};
  for (const [name, s] of Object.entries(part)) {
    // No object of JavaScript can have a field of this name.
    if (name === "__proto__") {
      continue;
    }
    count.fields++;
    if (!isObject(s)) {
      out[name] = s;
      continue;
    }
    const [one, oneUi] = walk(s, count, depth + 1);
    out[name] = one;
    // Where a property stands twice, the first says how it is shown.
    if (key === "properties" && Object.keys(oneUi).length > 0 && !has(ui, name)) {
      ui[name] = oneUi;
    }
  }
  schema[key] = out;
}

function choices(from: Schema, schema: Schema, ui: Schema, count: Count, depth: number) {
  for (const key of ["oneOf", "anyOf"]) {
    const part = from[key];
    if (!Array.isArray(part)) {
      continue;
    }
    const made = part.map<[unknown, Schema]>((s) => (isObject(s) ? walk(s, count, depth + 1) : [s, {}]));
    schema[key] = made.map(([s]) => (isObject(s) && s["title"] === undefined ? { ...s, ...titled(s, from) } : s));
    // What is chosen says what the fields are: they need no title of their own.
    ui[key] = made.map(([s, u]) => (isObject(s) && isObject(s["properties"]) ? { ...u, "ui:options": { ...(isObject(u["ui:options"]) ? u["ui:options"] : {}), label: false } } : u));
  }
  if (Array.isArray(from["allOf"])) {
    schema["allOf"] = from["allOf"].map((s) => merged(s, ui, count, depth));
  }
}

// conditions are parts whose properties stand on the same level once they count.
function conditions(from: Schema, schema: Schema, ui: Schema, count: Count, depth: number) {
  for (const key of ["then", "else"]) {
    if (isObject(from[key])) {
      schema[key] = merged(from[key], ui, count, depth);
    }
  }
  const dependencies = from["dependencies"];
  if (!isObject(dependencies)) {
    return;
  }
  schema["dependencies"] = Object.fromEntries(
    Object.entries(dependencies).map(([name, s]) => {
      if (!isObject(s)) {
        return [name, s];
      }
      const one = merged(s, ui, count, depth) as Schema;
      if (Array.isArray(s["oneOf"])) {
        one["oneOf"] = s["oneOf"].map((b) => merged(b, ui, count, depth));
      }
      return [name, one];
    }),
  );
}

function merged(part: unknown, ui: Schema, count: Count, depth: number): unknown {
  if (!isObject(part)) {
    return part;
  }
  const [schema, inner] = walk(part, count, depth + 1);
  for (const [key, value] of Object.entries(inner)) {
    if (key !== "oneOf" && key !== "anyOf" && !has(ui, key)) {
      ui[key] = value;
    }
  }
  return schema;
}

// titled names a choice by the fields it asks for.
function titled(choice: Schema, parent: Schema): { title?: string } {
  const required = choice["required"];
  if (!Array.isArray(required) || required.length === 0) {
    return {};
  }
  const titles = required.map((key) => {
    for (const at of [choice["properties"], parent["properties"]]) {
      const s = isObject(at) && has(at, String(key)) ? at[String(key)] : undefined;
      if (isObject(s) && typeof s["title"] === "string") {
        return s["title"];
      }
    }
    return String(key);
  });
  return { title: `With ${titles.join(" and ")}` };
}

// special finds fields of ours by their schemas.
function special(schema: Schema, ui: Schema) {
  if (ui["ui:field"] !== undefined) {
    // The field shows all of it: no choice beside it, no members below it.
    ui["ui:fieldReplacesAnyOrOneOf"] = true;
    return;
  }
  const types = (Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []).map((s) => (isObject(s) ? s["type"] : undefined)).filter((t) => t !== "null");
  if (types.length === 2 && types.includes("integer") && types.includes("string")) {
    ui["ui:field"] = "IntOrString";
    ui["ui:fieldReplacesAnyOrOneOf"] = true;
    return;
  }
  const type = schema["type"];
  if ((type === "object" || (Array.isArray(type) && type.includes("object"))) && isObject(schema["properties"]) && schema["additionalProperties"] === true) {
    // The library would show each undeclared field as a text of its own.
    delete schema["additionalProperties"];
    ui["ui:field"] = "OpenObject";
    return;
  }
  const free = schema["type"] === "object" && !isObject(schema["properties"]) && !isObject(schema["additionalProperties"]) && !schema["oneOf"] && !schema["anyOf"] && !schema["allOf"] && !schema["patternProperties"];
  if (free) {
    ui["ui:field"] = "YamlText";
  }
}
