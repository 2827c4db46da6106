import { dropUnknownNames, knownUi } from "./names";
import { optionTitle } from "./options";
import { has, isObject, type Schema } from "./types";
import { measured } from "./units";
import { texts } from "../../text";

// Split is a form page as the form library expects it: the schema and the UI schema.
export type Split = { schema: Schema; ui: Schema; fields: number };

// split moves the ui: keywords of a page into a separate UI schema. It also translates to the library: int-or-string
// fields, options between groups of fields and names of enum values.
export function split(page: unknown): Split {
  const root = isObject(page) ? page : {};
  const count = { fields: 0, root };
  const [schema, ui] = walk(root, count, 0);
  return { schema: { type: "object", ...schema, title: undefined, description: undefined }, ui, fields: count.fields };
}

// Count is the number of fields so far and the page.
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

// broken returns a field that shows why it cannot be rendered.
function broken(from: Schema, reason: string): [Schema, Schema] {
  return [typeof from["title"] === "string" ? { title: from["title"] } : { title: "" }, { "ui:field": "Broken", "ui:reason": reason }];
}

// leadsSomewhere reports whether a reference resolves on the page. A dangling one would break the whole form.
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

// definitions processes shared schemas. Their UI options come from where they are used.
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
    // JavaScript objects cannot have a field with this name.
    if (name === "__proto__") {
      continue;
    }
    count.fields++;
    if (!isObject(s)) {
      out[name] = s;
      continue;
    }
    const [one, oneUi] = walk(s, count, depth + 1);
    hints(one, oneUi);
    out[name] = one;
    // If a property occurs twice, the first one determines its UI.
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
    schema[key] = made.map(([s], i) => (isObject(s) && !(typeof s["title"] === "string" && s["title"] !== "") ? { ...s, title: optionTitle(s, part, from, i) } : s));
    // The selected option has a title; its fields need none.
    ui[key] = made.map(([s, u]) => (isObject(s) && isObject(s["properties"]) ? { ...u, "ui:options": { ...(isObject(u["ui:options"]) ? u["ui:options"] : {}), label: false } } : u));
  }
  if (Array.isArray(from["allOf"])) {
    schema["allOf"] = from["allOf"].map((s) => merged(s, ui, count, depth));
  }
}

// conditions processes schemas whose properties are shown on the same level when they apply.
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

// hints shows the unit of a number in its input, and an example as placeholder.
function hints(schema: Schema, ui: Schema) {
  const found = ui["ui:field"] === undefined ? measured(schema) : undefined;
  if (found) {
    schema["title"] = found.title;
    ui["ui:options"] = { ...(isObject(ui["ui:options"]) ? ui["ui:options"] : {}), unit: found.unit };
  }
  const example = Array.isArray(schema["examples"]) ? schema["examples"][0] : schema["example"];
  // The library would offer examples as a list of suggestions.
  delete schema["examples"];
  if (ui["ui:placeholder"] === undefined && (typeof example === "string" || typeof example === "number") && example !== "") {
    ui["ui:placeholder"] = texts.create.form.example(String(example));
  }
}

// special selects our own fields by schema.
function special(schema: Schema, ui: Schema) {
  if (ui["ui:field"] !== undefined) {
    // The field renders everything: no option selector and no members.
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
    // The library would show each undeclared field as a text input.
    delete schema["additionalProperties"];
    ui["ui:field"] = "OpenObject";
    return;
  }
  const free = schema["type"] === "object" && !isObject(schema["properties"]) && !isObject(schema["additionalProperties"]) && !schema["oneOf"] && !schema["anyOf"] && !schema["allOf"] && !schema["patternProperties"];
  if (free) {
    ui["ui:field"] = "YamlText";
  }
}
