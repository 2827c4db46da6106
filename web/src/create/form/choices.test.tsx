import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import { ChoiceSource, pointerOf, sourceOf, type Source } from "./LiveChoices";
import { PageForm } from "./PageForm";
import type { Schema, Values } from "./types";

const session = { portalIdentity: { token: "t", expiresInSeconds: 3600, identity: { userEntityRef: "user:default/ann", ownershipEntityRefs: [], type: "user" } }, profile: {} };

let asked: string[] = [];
let answer: { status: number; body: unknown };

beforeEach(() => {
  asked = [];
  answer = { status: 200, body: { cluster: "dev", kind: "StorageClass", more: false, items: [{ value: "nvme" }, { value: "ssd", label: "Solid state" }] } };
  vi.stubGlobal("fetch", (url: string) => {
    const { status, body } = url.endsWith("/providers") ? { status: 200, body: { guest: true, oidc: false } } : url.endsWith("/refresh") ? { status: 200, body: session } : answer;
    if (url.includes("/choices")) {
      asked.push(url);
    }
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } }));
  });
});

const live = (schema: Schema, more: Schema = {}) => ({ title: "Class", "ui:field": "LiveChoices", "ui:options": { choices: { kind: "StorageClass", ...more } }, ...schema });
const source: Source = { template: "template:default/x", asksCluster: true, cluster: "dev", namespace: "" };

function shown(field: Schema, from: Source | undefined, first: Values = {}) {
  const held = { values: first };
  function Holder() {
    const [values, setValues] = useState(first);
    held.values = values;
    return (
      <ChoiceSource value={from}>
        <PageForm id="f" page={{ properties: { class: field } }} values={values} secrets={{}} problems={[]} onChange={setValues} onSecret={() => undefined} onDone={() => undefined} />
      </ChoiceSource>
    );
  }
  render(
    <Testbed>
      <Holder />
    </Testbed>,
  );
  return held;
}

describe("LiveChoices", () => {
  test("suggests values with their labels, and asks only when the user comes to the field", async () => {
    const held = shown(live({ type: "string" }), source);
    const input = await screen.findByRole("combobox", { name: "Class" });
    expect(asked).toEqual([]);
    await userEvent.click(input);
    await userEvent.click(await screen.findByRole("option", { name: /ssd\s*Solid state/ }));
    await waitFor(() => expect(held.values["class"]).toBe("ssd"));
    expect(asked[0]).toBe("/api/composer-ingestor/choices?template=template%3Adefault%2Fx&field=%2Fclass&cluster=dev");
  });

  test("accepts any text, and searches for it once after the last key", async () => {
    const held = shown(live({ type: "string" }), source);
    await userEvent.type(await screen.findByRole("combobox", { name: "Class" }), "other");
    expect(held.values["class"]).toBe("other");
    await waitFor(() => expect(asked.at(-1)).toMatch(/&search=other$/));
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  test("writes integers as numbers", async () => {
    answer.body = { cluster: "dev", kind: "Network", more: false, items: [{ value: 10 }] };
    const held = shown(live({ type: "integer" }), source);
    await userEvent.click(await screen.findByRole("combobox", { name: "Class" }));
    await userEvent.click(await screen.findByRole("option", { name: "10" }));
    await waitFor(() => expect(held.values["class"]).toBe(10));
  });

  test("chooses several values of a list, also others", async () => {
    const held = shown(live({ type: "array", items: { type: "string" } }), source);
    const input = await screen.findByRole("combobox", { name: "Class" });
    await userEvent.click(input);
    await userEvent.click(await screen.findByRole("option", { name: "nvme" }));
    await userEvent.type(input, "own{Enter}");
    await waitFor(() => expect(held.values["class"]).toEqual(["nvme", "own"]));
  });

  const notes: [string, number | undefined, Source | undefined, Schema, string][] = [
    ["the playground", undefined, undefined, {}, "Values are suggested once the form is connected to a cluster. Enter a value."],
    ["no cluster is chosen", undefined, { ...source, cluster: "" }, {}, "Choose a cluster to see suggestions, or enter a value."],
    ["no namespace is chosen", undefined, source, { namespace: "form" }, "Choose a namespace to see suggestions, or enter a value."],
    ["the user may not list", 403, source, {}, "You may not list these objects in the cluster. Enter a value."],
    ["the cluster is down", 503, source, {}, "The cluster cannot be reached. Enter a value."],
    ["there is no cluster", 404, source, {}, "The cluster has no suggestions for this field. Enter a value."],
    ["the server fails", 500, source, {}, "Cannot read suggestions. Enter a value."],
  ];
  test.each(notes)("is a text field with a reason if %s", async (_, status, from, more, note) => {
    if (status !== undefined) {
      answer = { status, body: { error: { name: "Error", message: "no" } } };
    }
    const held = shown(live({ type: "string" }, more), from);
    const input = await screen.findByRole("combobox", { name: "Class" });
    await userEvent.type(input, "own");
    expect(await screen.findByText(note)).toBeTruthy();
    expect(held.values["class"]).toBe("own");
    expect(asked.length > 0).toBe(status !== undefined);
    await waitFor(() => expect(document.getElementById(input.getAttribute("aria-describedby") ?? "")?.textContent).toContain(note));
  });

  test("reads cluster and namespace from the form", () => {
    const fields = (...names: string[]) => new Map(names.map((n) => [n, {}]));
    expect(sourceOf("t", fields("deliveryCluster", "namespace"), { deliveryCluster: "a", namespace: "n" })).toEqual({ template: "t", asksCluster: true, cluster: "a", namespace: "n" });
    expect(sourceOf("t", fields("cluster"), { cluster: 1 })).toEqual({ template: "t", asksCluster: true, cluster: "", namespace: "" });
    expect(sourceOf("t", fields(), { deliveryCluster: "a" })).toEqual({ template: "t", asksCluster: false, cluster: "", namespace: "" });
    expect(pointerOf(["a/b", 0, "c~d"])).toBe("/a~1b/0/c~0d");
  });
});
