import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, test } from "vitest";
import { Testbed } from "../../app/Testbed";
import { PageForm } from "./PageForm";
import { withDefaults } from "./pages";
import type { Schema, Values } from "./types";
import { readYaml } from "./YamlText";

function shown(page: Schema, first: Values = {}) {
  const held = { values: first, done: 0 };
  function Holder() {
    const [values, setValues] = useState(() => withDefaults([{ title: "Page", schema: page }], first));
    held.values = values;
    return <PageForm id="f" page={page} values={values} secrets={{}} problems={[]} onChange={setValues} onSecret={() => undefined} onDone={() => held.done++} />;
  }
  render(
    <Testbed>
      <Holder />
    </Testbed>,
  );
  return held;
}

const next = () => fireEvent.submit(document.getElementById("f")!);
const write = (label: RegExp, value: string) => fireEvent.change(screen.getByRole("textbox", { name: label }), { target: { value } });

describe("an object with additional fields", () => {
  const helm = { title: "Helm", type: "object", properties: { chart: { title: "Chart", type: "string" } }, additionalProperties: true };

  test("has inputs for declared fields and YAML for the rest", async () => {
    const held = shown({ properties: { helm } }, { helm: { chart: "a", values: { replicas: 2 } } });
    expect(screen.getByRole("textbox", { name: /Additional fields of Helm/ })).toHaveProperty("value", "values:\n  replicas: 2\n");
    write(/Additional fields of Helm/, "values: {replicas: 3}\n");
    write(/Chart/, "b");
    await waitFor(() => expect(held.values["helm"]).toEqual({ chart: "b", values: { replicas: 3 } }));
  });

  test("rejects a declared field in the YAML", async () => {
    const held = shown({ properties: { helm } }, { helm: { chart: "a" } });
    write(/Additional fields of Helm/, "chart: b\n");
    expect(await screen.findByText("Set chart in its own field")).toBeTruthy();
    next();
    expect(held.done).toBe(0);
    expect(held.values["helm"]).toEqual({ chart: "a" });
  });

  test("shows the YAML first if all declared fields are advanced, and sends it unchanged", async () => {
    const spec = { title: "Spec", type: "object", default: {}, additionalProperties: true, properties: { policy: { title: "Policy", type: "string", "ui:options": { advanced: true } } } };
    const held = shown({ required: ["spec"], properties: { spec } });
    next();
    await waitFor(() => expect(held.done).toBe(1));
    expect(held.values["spec"]).toEqual({});
    write(/^Spec/, "a: 1\n");
    fireEvent.click(screen.getByRole("button", { name: /Advanced/ }));
    write(/Policy/, "x");
    await waitFor(() => expect(held.values["spec"]).toEqual({ a: 1, policy: "x" }));
  });
});

describe("sections", () => {
  const section = (collapsed: boolean) => ({ title: collapsed ? "Closed" : "Open", type: "object", properties: { a: { title: "Field", type: "string" } }, "ui:options": { collapsed } });
  test("start collapsed or open as configured", () => {
    shown({ properties: { one: section(true), two: section(false) } });
    expect(screen.getByRole("button", { name: /Closed/ }).getAttribute("aria-expanded")).toBe("false");
    expect(screen.getByRole("button", { name: /Open/ }).getAttribute("aria-expanded")).toBe("true");
  });
});

describe("YAML 1.1", () => {
  test.each([
    ["words that kubectl reads as booleans", "a: yes\nb: Off\nc: [on, NO]\n", { a: true, b: false, c: [true, false] }],
    ["quoted words are text", "a: 'yes'\nb: \"no\"\n", { a: "yes", b: "no" }],
    ["keys are text", "on: 1\ny: 2\n", { on: 1, y: 2 }],
    ["other words are text", "a: yesterday\nb: Oes\nc: none\n", { a: "yesterday", b: "Oes", c: "none" }],
  ])("%s", (_, text, want) => expect(readYaml(text, "object")).toEqual({ value: want }));
});
