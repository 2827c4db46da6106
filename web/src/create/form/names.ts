import { getSchemaType } from "@rjsf/utils";
import { isObject, type Schema } from "./types";

// The form library looks names up in plain objects, where names such as "constructor" always exist, and throws for an
// unknown widget. Names from a Template are therefore checked against these lists first.

// fieldNames are the fields that a Template can select with ui:field; theme.ts has their components.
export const fieldNames: ReadonlySet<string> = new Set(["OwnerPicker", "EntityPicker", "OwnedEntityPicker", "MyGroupsPicker", "YamlText", "IntOrString", "Secret", "LiveChoices"]);

const numbers = new Set(["text", "select", "updown", "range", "radio", "hidden"]);

// typeWidgets are the widgets that a Template can select with ui:widget, by the type of the field.
export const typeWidgets: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["boolean", new Set(["checkbox", "radio", "select", "hidden"])],
  [
    "string",
    new Set([
      "text",
      "password",
      "email",
      "hostname",
      "ipv4",
      "ipv6",
      "uri",
      "data-url",
      "radio",
      "select",
      "textarea",
      "hidden",
      "date",
      "datetime",
      "date-time",
      "alt-date",
      "alt-datetime",
      "time",
      "color",
      "file",
    ]),
  ],
  ["number", numbers],
  ["integer", numbers],
  ["array", new Set(["select", "checkboxes", "files", "hidden"])],
  ["object", new Set(["hidden"])],
]);

// longNames maps component names of widgets, which the library accepts for any type.
const longNames: ReadonlyMap<string, string> = new Map([
  ["CheckboxWidget", "checkbox"],
  ["CheckboxesWidget", "checkboxes"],
  ["EmailWidget", "email"],
  ["HiddenWidget", "hidden"],
  ["PasswordWidget", "password"],
  ["RadioWidget", "radio"],
  ["RangeWidget", "range"],
  ["SelectWidget", "select"],
  ["TextWidget", "text"],
  ["TextareaWidget", "textarea"],
  ["UpDownWidget", "updown"],
  ["URLWidget", "uri"],
]);

function widgetFor(schema: Schema, name: unknown): string | undefined {
  if (typeof name !== "string") {
    return undefined;
  }
  const short = longNames.get(name) ?? name;
  const type = getSchemaType(schema);
  return short === "hidden" || (typeof type === "string" && typeWidgets.get(type)?.has(short)) ? short : undefined;
}

function fieldFor(name: unknown): string | undefined {
  return typeof name === "string" && fieldNames.has(name) ? name : undefined;
}

// knownUi returns the ui: keywords of a field without unknown names, so that the field falls back to its default widget.
// Library templates are components, which JSON cannot name.
export function knownUi(schema: Schema, ui: Schema): Schema {
  const out: Schema = {};
  for (const [key, value] of Object.entries(ui)) {
    if (key === "ui:options" || key === "ui:globalOptions") {
      if (isObject(value)) {
        out[key] = knownOptions(schema, value);
      }
      continue;
    }
    const known = key.startsWith("ui:") ? knownOption(schema, key.slice(3), value) : value;
    if (known !== undefined) {
      out[key] = known;
    }
  }
  return out;
}

function knownOptions(schema: Schema, options: Schema): Schema {
  return Object.fromEntries(Object.entries(options).flatMap(([key, value]) => (knownOption(schema, key, value) === undefined ? [] : [[key, knownOption(schema, key, value)]])));
}

function knownOption(schema: Schema, name: string, value: unknown): unknown {
  if (name === "widget") {
    return widgetFor(schema, value);
  }
  if (name === "field") {
    return fieldFor(value);
  }
  return name === "definitions" || /Templates?$/.test(name) ? undefined : value;
}

// dropUnknownNames removes formats that exist on every object, and a $id that is the name of a library field.
export function dropUnknownNames(schema: Schema): void {
  const format = schema["format"];
  if (format !== undefined && (typeof format !== "string" || format in {})) {
    delete schema["format"];
  }
  const id = schema["$id"];
  if (id !== undefined && (typeof id !== "string" || /^\w*$/.test(id))) {
    delete schema["$id"];
  }
}
