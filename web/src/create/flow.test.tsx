import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import TemplatePage from "./TemplatePage";

const session = { portalIdentity: { token: "t", expiresInSeconds: 3600, identity: { userEntityRef: "user:default/ann", ownershipEntityRefs: [], type: "user" } }, profile: {} };

const apply = { id: "apply", action: "kubernetes:apply", input: { manifest: { kind: "Bucket", metadata: { name: "${{ parameters.name }}" }, spec: { size: "${{ parameters.size }}", token: "${{ parameters.token }}" } } } };
const remove = { id: "delete", action: "kubernetes:delete", input: { kind: "Bucket", name: "${{ parameters.name }}" } };

const form = {
  title: "Bucket",
  origin: "definition",
  steps: [
    { title: "Basics", schema: { required: ["name"], properties: { name: { title: "Name", type: "string" } } } },
    { title: "More", description: "About it.\nsize needs name", schema: { properties: { size: { title: "Size", type: "string" }, token: { title: "Token", type: "string", "ui:widget": "password" } } } },
  ],
};

// world is what the stubbed portal has.
let world: { steps: object[]; purpose: string; form: object; allow: (permission: string) => boolean };

beforeEach(() => {
  localStorage.clear();
  window.scrollTo = () => undefined;
  world = { steps: [apply], purpose: "create", form, allow: () => true };
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => {
    const body = typeof init?.body === "string" ? (JSON.parse(init.body) as { items: { id: string; permission: { name: string } }[] }) : undefined;
    return Promise.resolve(answer(url, body));
  });
});

function answer(url: string, body: { items: { id: string; permission: { name: string } }[] } | undefined): Response {
  const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status, headers: { ETag: '"1"' } });
  if (url.endsWith("/providers")) return json({ guest: false, oidc: true });
  if (url.endsWith("/refresh")) return json(session);
  if (url.endsWith("/authorize")) return json({ items: body!.items.map((i) => ({ id: i.id, result: world.allow(i.permission.name) ? "ALLOW" : "DENY" })) });
  if (url.includes("/template/bucket/parameter-schema")) return json(world.form);
  if (url.includes("/by-name/template")) return json({ kind: "Template", metadata: { name: "bucket", annotations: { "portal.io/template-purpose": world.purpose } }, spec: { steps: world.steps } });
  if (url.endsWith("/autocomplete/cluster/clusters")) return json({ results: [{ id: "dev" }] });
  if (url.endsWith("/dry-run")) return json({ log: [], steps: [], output: {}, directoryContents: [], changes: [] });
  if (url.endsWith("/entities/by-query")) return json({ items: [{ kind: "Resource", metadata: { name: "b1", annotations: { "composer.vendor.io/xr-name": "photos", "portal.io/discovered-from": "dev" } }, spec: { type: "crossplane-xr" } }], totalItems: 1 });
  if (url.includes("/api/resources/by-name/")) {
    const node = (name: string, more = {}) => ({ ref: { kind: "ConfigMap", name }, state: "present", readiness: "none", ...more });
    return json({ cluster: "dev", ready: true, events: [], read: "2030-01-01T00:00:00Z", tree: node("photos", { children: [node("a", { children: [node("b")] }), node("gone", { state: "missing" })] }) });
  }
  return json({ error: { name: "NotFoundError", message: "nothing" } }, 404);
}

const open = (path = "/create/default/bucket") =>
  render(
    <Testbed path={path} route="/create/:namespace/:name">
      <TemplatePage />
    </Testbed>,
  );

const type = async (label: RegExp, value: string) => fireEvent.change(await screen.findByLabelText(label), { target: { value } });

describe("a form", () => {
  test("goes to the review from the first page if the others are optional", async () => {
    open();
    await type(/Name/, "photos");
    fireEvent.click(await screen.findByRole("button", { name: "Skip to review" }));
    expect(await screen.findByRole("heading", { name: "Your input" })).toBeTruthy();
  });
  test("must be filled in page by page if another page has required fields", async () => {
    world.form = { ...form, steps: [form.steps[0], { title: "More", schema: { required: ["size"], properties: { size: { title: "Size", type: "string" } } } }] };
    open();
    await screen.findByRole("button", { name: "Next" });
    expect(screen.queryByRole("button", { name: "Skip to review" })).toBeNull();
  });
  test("shows the manifest while typing, with secrets masked", async () => {
    open("/create/default/bucket?step=2");
    fireEvent.click(await screen.findByRole("button", { name: "Show manifest" }));
    await type(/Size/, "large");
    await type(/Token/, "hush");
    const shown = await screen.findByRole("region", { name: "Manifest preview" });
    await waitFor(() => expect(shown.textContent).toContain("size: large"));
    await waitFor(() => expect(shown.textContent).toContain("token: •••••"));
  });
  test("has no manifest without the permission for dry runs", async () => {
    world.allow = (permission) => permission !== "scaffolder.template.dry-run";
    open();
    await type(/Name/, "photos");
    await waitFor(() => expect(screen.queryByRole("button", { name: "Show manifest" })).toBeNull());
  });
  test("lists the rules of a page", async () => {
    open("/create/default/bucket?step=2");
    expect((await screen.findByText(/^About it\./)).textContent).toContain("Rules: size needs name");
  });
  test("that does not exist leads to a search", async () => {
    open("/create/default/nothing");
    expect(await screen.findByRole("heading", { name: "Template not found" })).toBeTruthy();
    expect(screen.getByRole<HTMLInputElement>("searchbox").value).toBe("nothing");
  });
});

test("a delete form says what is deleted, and its button is a danger", async () => {
  Object.assign(world, { steps: [remove], purpose: "delete", form: { title: "Delete Bucket", steps: [form.steps[0]] } });
  open("/create/default/bucket?name=photos");
  const note = await screen.findByRole("note");
  await waitFor(() => expect(note.textContent).toContain("2 composed objects in cluster dev are deleted with it"));
  expect(note.textContent).toContain("Deletes Bucket photos");
  expect(note.textContent).not.toContain("gone");
  fireEvent.submit(document.getElementById("template-form")!);
  const button = await screen.findByRole("button", { name: "Delete" });
  expect(button.getAttribute("style")).toContain("danger");
});
