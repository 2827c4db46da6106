import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import type { EntityPart } from "../../api/types";
import { clusterField } from "../target";
import { ChoiceSource, pointerOf, sourceOf, type Source } from "./LiveChoices";
import { PageForm } from "./PageForm";
import type { Schema, Values } from "./types";

const session = { portalIdentity: { token: "t", expiresInSeconds: 3600, identity: { userEntityRef: "user:default/ann", ownershipEntityRefs: [], type: "user" } }, profile: {} };

let asked: string[] = [];
let answer: { status: number; body: unknown };
// slow, if any, is what a response waits for.
let slow: Promise<void> | undefined;

beforeEach(() => {
  asked = [];
  slow = undefined;
  answer = { status: 200, body: { cluster: "dev", kind: "StorageClass", more: false, items: [{ value: "nvme" }, { value: "ssd", label: "Solid state" }] } };
  vi.stubGlobal("fetch", async (url: string) => {
    const { status, body } = url.endsWith("/providers") ? { status: 200, body: { guest: true, oidc: false } } : url.endsWith("/refresh") ? { status: 200, body: session } : answer;
    if (url.includes("/choices")) {
      asked.push(url);
      await slow;
    }
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
  });
});

const live = (schema: Schema, more: Schema = {}) => ({ title: "Class", "ui:field": "LiveChoices", "ui:options": { choices: { kind: "StorageClass", ...more } }, ...schema });
const source: Source = { template: "template:default/x", asksCluster: true, asksNamespace: true, cluster: "dev", namespace: "" };

function shown(field: Schema, from: Source | undefined, first: Values = {}) {
  const held = { values: first, setSource: (_: Source) => undefined as void };
  function Holder() {
    const [values, setValues] = useState(first);
    const [now, setNow] = useState(from);
    Object.assign(held, { values, setSource: setNow });
    return (
      <ChoiceSource value={now}>
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

  test("asks once after the last key of a namespace, and drops the values of another one", async () => {
    const namespaced = { ...source, namespace: "a" };
    const held = shown(live({ type: "string" }, { namespace: "form" }), namespaced);
    await userEvent.click(await screen.findByRole("combobox", { name: "Class" }));
    await screen.findByRole("option", { name: "nvme" });
    answer.body = { cluster: "dev", kind: "StorageClass", more: false, items: [{ value: "tape" }] };
    for (const namespace of ["ab", "abc", "abcd"]) {
      act(() => held.setSource({ ...namespaced, namespace }));
      expect(screen.queryByRole("option", { name: "nvme" })).toBeNull();
    }
    // While the values of the new namespace are read, there are none.
    let answered = () => undefined as void;
    slow = new Promise((resolve) => (answered = resolve));
    await waitFor(() => expect(asked.length).toBe(2));
    expect(asked[1]).toMatch(/&namespace=abcd$/);
    expect(screen.queryByRole("option", { name: "nvme" })).toBeNull();
    answered();
    await screen.findByRole("option", { name: "tape" });
    act(() => held.setSource({ ...namespaced, namespace: "abcd", cluster: "prod" }));
    expect(screen.queryByRole("option", { name: "tape" })).toBeNull();
    await waitFor(() => expect(asked.at(-1)).toMatch(/&cluster=prod&namespace=abcd$/));
  });

  test("keeps the values of the last search while another one runs", async () => {
    shown(live({ type: "string" }), source);
    const input = await screen.findByRole("combobox", { name: "Class" });
    await userEvent.click(input);
    await screen.findByRole("option", { name: "nvme" });
    slow = new Promise(() => undefined);
    await userEvent.type(input, "nv");
    await waitFor(() => expect(asked.at(-1)).toMatch(/&search=nv$/));
    expect(screen.getByRole("option", { name: "nvme" })).toBeTruthy();
    expect(screen.queryByRole("option", { name: /^ssd/ })).toBeNull();
  });

  const items = (n: number) => Array.from({ length: n }, (_, i) => ({ value: `v${i}` }));
  const more = "There are more values. Type to search.";
  const amounts: [string, object, string, string | undefined][] = [
    ["all values are shown", { more: false, items: items(50) }, "", undefined],
    ["some values are not shown", { more: false, items: items(51) }, "", more],
    ["the server has more", { more: true, items: items(3) }, "", more],
    ["there are none", { more: false, items: [] }, "", "The cluster has no suggestions for this field. Enter a value."],
    ["a search finds none", { more: false, items: [] }, "x", undefined],
  ];
  test.each(amounts)("says whether there are more values if %s", async (_, body, search, note) => {
    answer.body = { cluster: "dev", kind: "StorageClass", ...body };
    shown(live({ type: "string" }), source);
    const input = await screen.findByRole("combobox", { name: "Class" });
    await userEvent.click(input);
    if (search !== "") {
      await userEvent.type(input, search);
      await waitFor(() => expect(asked.at(-1)).toMatch(/&search=x$/));
    }
    await waitFor(() => expect(screen.queryByLabelText("Reading from the cluster")).toBeNull());
    expect(asked.length).toBeGreaterThan(0);
    await waitFor(() => expect(document.getElementById(input.getAttribute("aria-describedby") ?? "")?.textContent ?? "").toBe(note ?? ""));
  });

  const notes: [string, number | undefined, Source | undefined, Schema, string][] = [
    ["the playground", undefined, undefined, {}, "Values are suggested once the form is connected to a cluster. Enter a value."],
    ["no cluster is chosen", undefined, { ...source, cluster: "" }, {}, "Choose a cluster to see suggestions, or enter a value."],
    ["no namespace is chosen", undefined, source, { namespace: "form" }, "Choose a namespace to see suggestions, or enter a value."],
    ["the form has no namespace", undefined, { ...source, asksNamespace: false }, { namespace: "form" }, "The cluster has no suggestions for this field. Enter a value."],
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

  test("says what the server asks for, if the page does not know it", async () => {
    answer = { status: 400, body: { error: { name: "InputError", message: "Choose a cluster first: request/query must have required property 'cluster'" } } };
    shown(live({ type: "string" }), { ...source, asksCluster: false, cluster: "" });
    await userEvent.click(await screen.findByRole("combobox", { name: "Class" }));
    expect(await screen.findByText("Choose a cluster to see suggestions, or enter a value.")).toBeTruthy();
    expect(asked[0]).not.toContain("cluster=");
  });

  test("reads cluster and namespace from the form", () => {
    const fields = (...names: string[]) => new Map(names.map((n) => [n, {}]));
    expect(sourceOf("t", "deliveryCluster", fields("deliveryCluster", "namespace"), { deliveryCluster: "a", namespace: "n" })).toEqual({ template: "t", asksCluster: true, asksNamespace: true, cluster: "a", namespace: "n" });
    expect(sourceOf("t", "cluster", fields("cluster"), { cluster: 1 })).toEqual({ template: "t", asksCluster: true, asksNamespace: false, cluster: "", namespace: "" });
    expect(sourceOf("t", undefined, fields("cluster"), { deliveryCluster: "a", cluster: "b" })).toEqual({ template: "t", asksCluster: false, asksNamespace: false, cluster: "", namespace: "" });
    expect(pointerOf(["a/b", 0, "c~d"])).toBe("/a~1b/0/c~0d");
  });

  const passing = (cluster?: unknown) => ({ kind: "Template", spec: { steps: [{ action: "debug:log" }, { action: "cluster:apply", input: { cluster } }] } }) as unknown as EntityPart;
  const asking: [string, EntityPart | undefined, string[], string | undefined][] = [
    ["a generated form asks for the cluster", passing("${{ parameters.deliveryCluster }}"), ["deliveryCluster"], "deliveryCluster"],
    ["the definition has a field cluster too", passing("${{ parameters.deliveryCluster }}"), ["cluster", "deliveryCluster"], "deliveryCluster"],
    ["the definition has a field cluster", passing(), ["cluster"], undefined],
    ["a step uses the field for something else", passing("east-${{ parameters.cluster }}"), ["cluster"], undefined],
    ["a step has the field as its cluster", passing("${{ parameters.cluster }}"), ["cluster"], "cluster"],
    ["it does so without spaces", passing("${{parameters.cluster}}"), ["cluster"], "cluster"],
    ["the form has no such field", passing("${{ parameters.cluster }}"), ["size"], undefined],
    ["the steps are not known", undefined, ["cluster"], undefined],
  ];
  test.each(asking)("finds the field for the cluster if %s", (_, template, names, want) => {
    expect(clusterField(template, new Map(names.map((n) => [n, {}])))).toBe(want);
  });
});
