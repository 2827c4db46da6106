import { texts } from "../../text";
import { has, isObject, type Schema } from "./types";

const words = texts.create.form.option;

const types: ReadonlyMap<unknown, string> = new Map([
  ["string", words.text],
  ["number", words.number],
  ["integer", words.number],
  ["boolean", words.boolean],
  ["array", words.list],
  ["object", words.object],
  ["null", words.null],
]);

// optionTitle names an option of oneOf or anyOf that has no title: by the value or the fields that tell it from the others,
// or by its type.
export function optionTitle(option: Schema, all: unknown[], parent: Schema, index: number): string {
  return byValue(option, parent) ?? byFields(option, all, parent) ?? byAbsence(option, parent) ?? byType(option, all) ?? (Object.keys(option).length === 0 ? words.empty : words.variant(index + 1));
}

// byValue names an option by the only value that it allows for a field.
function byValue(option: Schema, parent: Schema): string | undefined {
  const properties = isObject(option["properties"]) ? option["properties"] : {};
  for (const [key, schema] of Object.entries(properties)) {
    const only = isObject(schema) ? ("const" in schema ? [schema["const"]] : schema["enum"]) : undefined;
    if (Array.isArray(only) && only.length === 1 && ["string", "number", "boolean"].includes(typeof only[0])) {
      return words.is(titleOf(key, option, parent), String(only[0]));
    }
  }
  return undefined;
}

// byFields names an option by its required fields, or by those that no other option has.
function byFields(option: Schema, all: unknown[], parent: Schema): string | undefined {
  const keys = (s: unknown) => (isObject(s) && isObject(s["properties"]) ? Object.keys(s["properties"]) : []);
  const required = Array.isArray(option["required"]) ? option["required"].filter((k): k is string => typeof k === "string") : [];
  const others = new Set(all.filter((_, i) => all[i] !== option && !same(all[i], option)).flatMap(keys));
  const own = required.length > 0 ? required : keys(option).filter((key) => !others.has(key));
  return own.length === 0 ? undefined : words.with(own.slice(0, 4).map((key) => titleOf(key, option, parent)).join(words.and));
}

function same(a: unknown, b: unknown): boolean {
  return isObject(a) && isObject(b) && JSON.stringify(a["properties"]) === JSON.stringify(b["properties"]);
}

function byAbsence(option: Schema, parent: Schema): string | undefined {
  const not = option["not"];
  const required = isObject(not) && Array.isArray(not["required"]) ? not["required"] : [];
  return required.length === 0 ? undefined : words.without(required.map((key) => titleOf(String(key), option, parent)).join(words.and));
}

function byType(option: Schema, all: unknown[]): string | undefined {
  const type = option["type"];
  const alone = all.filter((s) => isObject(s) && s["type"] === type).length === 1;
  return alone ? types.get(type) : undefined;
}

function titleOf(key: string, option: Schema, parent: Schema): string {
  for (const at of [option["properties"], parent["properties"]]) {
    const s = isObject(at) && has(at, key) ? at[key] : undefined;
    if (isObject(s) && typeof s["title"] === "string" && s["title"] !== "") {
      return s["title"];
    }
  }
  return key;
}
