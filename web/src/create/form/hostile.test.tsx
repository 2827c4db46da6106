import { render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import { fields } from "./theme";
import { PageForm } from "./PageForm";
import { withDefaults } from "./pages";
import { check } from "./problems";
import type { Schema, Values } from "./types";
import { fieldNames, typeWidgets } from "./names";

beforeEach(() => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ items: [], totalItems: 0 }), { headers: { "Content-Type": "application/json" } })));
  // React logs every error that a boundary catches.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

// shown renders a page as the create page does.
function shown(page: Schema) {
  function Holder() {
    const [values, setValues] = useState<Values>(() => withDefaults([{ title: "Page", schema: page }], {}));
    return <PageForm id="f" page={page} values={values} secrets={{}} problems={[]} onChange={setValues} onSecret={() => undefined} onDone={() => undefined} />;
  }
  render(
    <Testbed>
      <Holder />
    </Testbed>,
  );
}

// input finds the element of a field by its id: searching by label takes seconds on a large page.
const input = (name: string) => document.getElementById(`root_${name}`);

// Names that exist on every JavaScript object, and a name that does not exist.
const words = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "NoSuchThing"];

// parsed parses a schema as it comes over the wire: JSON.parse makes __proto__ an ordinary key.
const parsed = (text: string) => JSON.parse(text) as Schema;

const places: Record<string, (word: unknown) => Schema> = {
  "ui:widget": (word) => ({ "ui:widget": word }),
  "ui:field": (word) => ({ "ui:field": word }),
  "ui:options": (word) => ({ "ui:options": word }),
  "ui:options.widget": (word) => ({ "ui:options": { widget: word } }),
  "ui:options.field": (word) => ({ "ui:options": { field: word } }),
  "ui:FieldTemplate": (word) => ({ "ui:FieldTemplate": word }),
  "ui:options.BaseInputTemplate": (word) => ({ "ui:options": { BaseInputTemplate: word } }),
  format: (word) => ({ format: word }),
  $id: (word) => ({ $id: word }),
};

const types = ["string", "integer", "boolean"];

describe("a schema with unknown names", () => {
  test.each(Object.keys(places))("shows every field with its default widget: %s", (place) => {
    const properties: Schema = { plain: { title: "Plain", type: "string" } };
    for (const [i, word] of [...words, {}, [], 7, null].entries()) {
      properties[`field${i}`] = { title: `Field ${i}`, type: types[i % types.length], ...places[place]!(word) };
      properties[`again${i}`] = { title: `Again ${i}`, type: types[(i + 1) % types.length], ...places[place]!(word) };
    }
    properties["list"] = { title: "List", type: "array", items: { type: "string" }, ...places[place]!("constructor") };
    properties["object"] = { title: "Object", type: "object", properties: { inside: { title: "Inside", type: "string" } }, ...places[place]!("constructor") };
    shown({ properties });
    expect(screen.queryByText(/Cannot show/)).toBeNull();
    for (const name of Object.keys(properties).filter((n) => n !== "list" && n !== "object")) {
      expect(input(name)?.tagName, name).toBe("INPUT");
    }
    expect(input("object_inside")).toBeTruthy();
    expect(screen.getByText("Add to List")).toBeTruthy();
  });

  test("falls back to the schema if ui:field is unknown", () => {
    shown({ properties: { port: { title: "Port", anyOf: [{ type: "integer" }, { type: "string" }], "ui:field": "constructor" } } });
    expect(screen.getByLabelText("Port")).toBeTruthy();
  });

  test("shows fields named like object members", () => {
    shown(parsed('{"properties": {"constructor": {"title": "C", "type": "string", "ui:widget": "textarea"}, "toString": {"title": "T", "type": "integer"}, "__proto__": {"title": "P", "type": "string"}, "a": {"title": "A", "type": "string"}}}'));
    expect(screen.getByLabelText("C").tagName).toBe("TEXTAREA");
    expect((screen.getByLabelText("C") as HTMLInputElement).value).toBe("");
    expect((screen.getByLabelText("T") as HTMLInputElement).value).toBe("");
    expect(screen.getByLabelText("A")).toBeTruthy();
  });

  test.each(words)("validates despite the unknown format %s", (word) => {
    expect(check({ properties: { a: { type: "string", format: word }, b: { type: "string", minLength: 3 } } }, { a: "x", b: "y" }).map((p) => p.path)).toEqual([["b"]]);
  });
});

describe("a field that cannot be rendered", () => {
  const broken: Record<string, Schema> = {
    "a title that is not text": { type: "string", title: { a: 1 } },
    "a help that is not text": { type: "string", title: "Bad", "ui:help": { a: 1 } },
    "a dangling reference": { $ref: "#/definitions/none" },
    "options that are not a list": { type: "string", title: "Bad", enum: ["a"], "ui:enumDisabled": { a: 1 } },
  };
  test.each(Object.entries(broken))("is reported while the others render: %s", async (_, bad) => {
    shown({ properties: { good: { title: "Good", type: "string" }, group: { title: "Group", type: "object", properties: { bad, beside: { title: "Beside", type: "string" } } } } });
    expect((await screen.findByText(/Cannot show field group\.bad/)).textContent).toContain("group.bad");
    expect(screen.getByLabelText("Good")).toBeTruthy();
    expect(screen.getByLabelText("Beside")).toBeTruthy();
  });
});

describe("known names", () => {
  test.each([...typeWidgets])("render: %s", (type, names) => {
    const more = type === "array" ? { items: { type: "string", enum: ["a", "b"] }, uniqueItems: true } : {};
    const named = [...names].map((name, i) => [`field${i}`, { title: `Field ${i}`, type, "ui:widget": name, ...more }]);
    shown({ properties: { good: { title: "Good", type: "string" }, ...(Object.fromEntries(named) as Schema) } });
    expect(screen.queryByText(/Cannot show/)).toBeNull();
    expect(input("good")).toBeTruthy();
  });
  test("match the fields of the theme", () => expect([...fieldNames].sort()).toEqual(Object.keys(fields).filter((name) => name !== "SchemaField" && name !== "Broken" && name !== "OpenObject").sort()));
});
