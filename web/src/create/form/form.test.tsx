import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import { PageForm } from "./PageForm";
import { withDefaults } from "./pages";
import type { Problem, Schema, Values } from "./types";

const session = { portalIdentity: { token: "t", expiresInSeconds: 3600, identity: { userEntityRef: "user:default/ann", ownershipEntityRefs: ["group:default/red"], type: "user" } }, profile: {} };

beforeEach(() => {
  vi.stubGlobal("fetch", (url: string) => {
    const body = url.endsWith("/providers") ? { guest: true, oidc: false } : url.endsWith("/refresh") ? session : { items: [{ kind: "Group", metadata: { name: "blue", namespace: "default" } }], totalItems: 1 };
    return Promise.resolve(new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } }));
  });
});

// shown renders a page and returns its state.
function shown(page: Schema, first: Values = {}, problems: Problem[] = []) {
  const held = { values: first, done: 0 };
  function Holder() {
    const [values, setValues] = useState(() => withDefaults([{ title: "Page", schema: page }], first));
    held.values = values;
    return (
      <>
        <PageForm id="f" page={page} values={values} secrets={{}} problems={problems} onChange={setValues} onSecret={() => undefined} onDone={() => held.done++} />
        <button type="submit" form="f">
          Next
        </button>
      </>
    );
  }
  render(
    <Testbed>
      <Holder />
    </Testbed>,
  );
  return held;
}

const next = () => fireEvent.submit(document.getElementById("f")!);

describe("PageForm", () => {
  test("reports a missing value at its field and continues when it is set", async () => {
    const held = shown({ required: ["name"], properties: { name: { title: "Name", type: "string", maxLength: 5 } } });
    next();
    expect(await screen.findAllByText(/This field is required\./)).not.toHaveLength(0);
    expect(held.done).toBe(0);
    await userEvent.type(screen.getByLabelText(/Name/), "abc");
    next();
    await waitFor(() => expect(held.done).toBe(1));
    expect(held.values["name"]).toBe("abc");
  });

  test("keeps defaults and types", async () => {
    const held = shown({ properties: { on: { title: "On", type: "boolean", default: false }, n: { title: "N", type: "integer", default: 0 }, text: { title: "T", type: "string", default: "" } } });
    expect(held.values).toMatchObject({ on: false, n: 0, text: "" });
    await userEvent.clear(screen.getByLabelText("N"));
    await userEvent.type(screen.getByLabelText("N"), "42");
    await waitFor(() => expect(held.values["n"]).toBe(42));
  });

  test("a confirmation must be checked explicitly", async () => {
    const held = shown({ required: ["confirm"], properties: { confirm: { title: "I am sure", type: "boolean", const: true } } });
    next();
    expect((await screen.findAllByText(/Select this to continue\./)).length).toBeGreaterThan(0);
    expect(held.done).toBe(0);
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText(/I am sure/)));
    fireEvent.click(screen.getByLabelText(/I am sure/));
    next();
    await waitFor(() => expect(held.done).toBe(1));
    expect(held.values).toEqual({ confirm: true });
  });

  test("parses YAML as an object and reports the line of an error", async () => {
    const held = shown({ properties: { spec: { title: "Spec", type: "object", additionalProperties: true, "ui:field": "YamlText" } } });
    fireEvent.change(screen.getByLabelText("Spec"), { target: { value: "a: [1, 2]\nb:\n  c: true\n" } });
    await waitFor(() => expect(held.values["spec"]).toEqual({ a: [1, 2], b: { c: true } }));
    fireEvent.change(screen.getByLabelText("Spec"), { target: { value: "a: 1\nb: [\n" } });
    expect(await screen.findByText(/^Invalid YAML at line 3/)).toBeTruthy();
    next();
    await screen.findByRole("alert");
    expect(held.done).toBe(0);
  });

  test("accepts a number or text", async () => {
    const held = shown({ properties: { port: { title: "Port", anyOf: [{ type: "integer" }, { type: "string" }] } } });
    fireEvent.change(screen.getByLabelText("Port"), { target: { value: "80" } });
    await waitFor(() => expect(held.values["port"]).toBe(80));
    fireEvent.change(screen.getByLabelText("Port"), { target: { value: "50%" } });
    await waitFor(() => expect(held.values["port"]).toBe("50%"));
    fireEvent.change(screen.getByLabelText("Port"), { target: { value: '"80"' } });
    await waitFor(() => expect(held.values["port"]).toBe("80"));
  });

  test("adds, names and removes entries of a map", async () => {
    const held = shown({ properties: { labels: { title: "Labels", type: "object", additionalProperties: { type: "string" } } } });
    fireEvent.click(screen.getByText("Add to Labels"));
    const name = await screen.findByLabelText(/^Name of/);
    fireEvent.change(name, { target: { value: "team.io/x" } });
    fireEvent.blur(name);
    await waitFor(() => expect(held.values["labels"]).toEqual({ "team.io/x": "" }));
    fireEvent.click(screen.getByLabelText("Remove team.io/x"));
    await waitFor(() => expect(held.values["labels"]).toEqual({}));
  });

  test("suggests owners and accepts any text", async () => {
    const held = shown({ properties: { owner: { title: "Owner", type: "string", "ui:field": "OwnerPicker" } } });
    fireEvent.click(await screen.findByRole("combobox", { name: "Owner" }));
    expect(await screen.findByText("group:default/blue")).toBeTruthy();
    fireEvent.change(screen.getByRole("combobox", { name: "Owner" }), { target: { value: "group:default/new" } });
    await waitFor(() => expect(held.values["owner"]).toBe("group:default/new"));
  });

  test("hides hidden fields and collapses advanced ones until they have errors", async () => {
    const page = { properties: { a: { title: "A", type: "string" }, secret: { title: "Never", type: "string", default: "x", "ui:widget": "hidden" }, b: { title: "Deep", type: "string", minLength: 2, "ui:options": { advanced: true } } } };
    const held = shown(page, { b: "x" });
    expect(screen.queryByLabelText("Deep")).toBeNull();
    expect(screen.queryByText("Never")).toBeNull();
    expect(held.values["secret"]).toBe("x");
    next();
    expect(await screen.findByLabelText("Deep")).toBeTruthy();
  });

  test("shows a server-side error at its field", async () => {
    shown({ properties: { name: { title: "Name", type: "string" } } }, {}, [{ path: ["name"], keyword: "x", message: "Rejected by the portal: taken" }]);
    expect(await screen.findAllByText(/taken/)).toHaveLength(2);
    expect(screen.getByLabelText("Name").getAttribute("aria-invalid")).toBe("true");
  });

  test("numbers list items", () => {
    shown({ properties: { nets: { title: "Networks", type: "array", items: { type: "string" } }, tls: { title: "TLS-1", type: "string" } } }, { nets: ["a", "b"] });
    expect(screen.getByLabelText(/Network 2/)).toBeTruthy();
    expect(screen.getByLabelText("TLS-1")).toBeTruthy();
  });

  test("escapes markup", () => {
    shown({ properties: { x: { title: "<img src=x onerror=alert(1)>", description: "<script>alert(1)</script> **b**", type: "string" } } });
    expect(document.querySelector("img, script")).toBeNull();
    expect(screen.getByText("<script>alert(1)</script> **b**")).toBeTruthy();
  });

  test("shows only the fields of the selected option", async () => {
    const delivery = { enum: ["apply", "propose"], title: "Delivery", type: "string", default: "apply" };
    const page = { properties: { delivery }, dependencies: { delivery: { oneOf: [{ properties: { delivery: { enum: ["apply"] } } }, { required: ["host"], properties: { delivery: { enum: ["propose"] }, host: { title: "Host", type: "string" } } }] } } };
    shown(page);
    expect(screen.queryByLabelText(/Host/)).toBeNull();
  });

  test("requires the fields of the selected option", async () => {
    const delivery = { enum: ["apply", "propose"], title: "Delivery", type: "string", default: "apply" };
    const page = { properties: { delivery }, dependencies: { delivery: { oneOf: [{ properties: { delivery: { enum: ["apply"] } } }, { required: ["host"], properties: { delivery: { enum: ["propose"] }, host: { title: "Host", type: "string" } } }] } } };
    const held = shown(page, { delivery: "propose" });
    expect(screen.getByLabelText(/Host/)).toBeTruthy();
    next();
    await screen.findByRole("alert");
    expect(held.done).toBe(0);
  });

  test("is usable with very many fields", () => {
    const properties = Object.fromEntries(Array.from({ length: 1900 }, (_, i) => [`f${i}`, { title: `Field ${i}`, type: "string" }]));
    shown({ properties });
    expect(screen.getByLabelText("Find a field")).toBeTruthy();
    expect(document.querySelectorAll("input").length).toBeLessThan(100);
    fireEvent.change(screen.getByLabelText("Find a field"), { target: { value: "field 1234" } });
    expect(screen.getByLabelText("Field 1234")).toBeTruthy();
  });
});
