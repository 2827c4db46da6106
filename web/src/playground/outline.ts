import { texts } from "../text";

// An outline is a schema as a list of fields.

const words = texts.playground.outline;

export type Field = {
  // key is unique in its outline.
  key: string;
  depth: number;
  name: string;
  title: string;
  type: string;
  required: boolean;
  description: string;
  // notes are the constraints: default, enum and bounds.
  notes: string[];
};

export type Section = { title: string; fields: Field[]; left: number };

type Schema = Record<string, unknown>;

// Limits of an outline: a schema may have thousands of fields.
const mostFields = 400;
const mostDepth = 12;

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function short(value: unknown): string {
  const said = JSON.stringify(value) ?? "";
  return said.length > 60 ? `${said.slice(0, 59)}…` : said;
}

// typeOf describes the type of a value in one or two words.
export function typeOf(schema: Schema): string {
  const type = schema["type"];
  if (type === "array") {
    return words.listOf(isObject(schema["items"]) ? typeOf(schema["items"]) : words.any);
  }
  if (type === "object" && !isObject(schema["properties"]) && isObject(schema["additionalProperties"])) {
    return words.mapOf(typeOf(schema["additionalProperties"]));
  }
  if (typeof type === "string") {
    return type;
  }
  if (Array.isArray(type)) {
    return type.filter((t) => typeof t === "string").join(words.or);
  }
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) {
    const types = [...new Set(choices.filter(isObject).map((c) => text(c["type"])))].filter((t) => t !== "");
    if (types.length > 0) {
      return types.join(words.or);
    }
  }
  return words.any;
}

function notesOf(schema: Schema): string[] {
  const notes: string[] = [];
  const values = schema["enum"];
  if (Array.isArray(values)) {
    notes.push(words.oneOf(values.slice(0, 8).map(short).join(", "), values.length - 8));
  }
  if ("default" in schema) {
    notes.push(words.fallback(short(schema["default"])));
  }
  for (const [key, word] of Object.entries(words.bounds)) {
    if (key in schema) {
      notes.push(`${word} ${typeof schema[key] === "string" ? schema[key] : short(schema[key])}`);
    }
  }
  const how = schema["ui:field"] ?? schema["ui:widget"];
  if (typeof how === "string") {
    notes.push(words.shownAs(how));
  }
  return notes;
}

// outline lists the fields of an object schema, nested ones after their parent.
export function outline(schema: Schema, title: string): Section {
  const section: Section = { title, fields: [], left: 0 };
  const visit = (node: Schema, depth: number, prefix: string) => {
    const properties = isObject(node["properties"]) ? node["properties"] : {};
    const required = Array.isArray(node["required"]) ? node["required"] : [];
    for (const [name, child] of Object.entries(properties)) {
      if (section.fields.length >= mostFields || depth > mostDepth) {
        section.left++;
        continue;
      }
      const one = isObject(child) ? child : {};
      const key = `${prefix}/${name}`;
      section.fields.push({
        key,
        depth,
        name,
        title: text(one["title"]),
        type: typeOf(one),
        required: required.includes(name),
        description: text(one["description"]),
        notes: notesOf(one),
      });
      visit(one, depth + 1, key);
      if (isObject(one["items"])) {
        visit(one["items"], depth + 1, `${key}[]`);
      }
      if (isObject(one["additionalProperties"])) {
        visit(one["additionalProperties"], depth + 1, `${key}{}`);
      }
    }
  };
  visit(schema, 0, "");
  return section;
}

// pagesOf returns the pages of a Template's form.
export function pagesOf(template: unknown): Schema[] {
  const spec = isObject(template) && isObject(template["spec"]) ? template["spec"] : {};
  const parameters = spec["parameters"];
  return (Array.isArray(parameters) ? parameters : [parameters]).filter(isObject);
}
