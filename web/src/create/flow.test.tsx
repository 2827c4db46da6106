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
let world: { steps: object[]; purpose: string; form: object; allow: (permission: string) => boolean; validate: (spec: { size?: string }) => object; planning: object; plan: (body: object) => [unknown, number?]; dryRun?: object };

const accepted = { accepted: true, problems: [], unknown: [], rulesSkipped: false };
const refused = (...problems: object[]) => ({ ...accepted, accepted: false, problems });

beforeEach(() => {
  localStorage.clear();
  window.scrollTo = () => undefined;
  world = { steps: [apply], purpose: "create", form, allow: () => true, validate: () => accepted, planning: { on: false }, plan: () => [{}] };
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
  if (url.endsWith("/composer-ingestor/validate")) return json(world.validate((body as unknown as { manifest: { spec: { size?: string } } }).manifest.spec));
  if (url.endsWith("/composer-ingestor/plan")) return body ? json(...world.plan(body)) : json(world.planning);
  if (url.endsWith("/dry-run")) return json(world.dryRun ?? { log: [], steps: [], output: {}, directoryContents: [], changes: [] });
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

test("an update form does not take the cluster of its resource for a field of the definition", async () => {
  const properties = { name: { title: "Name", type: "string" }, deliveryCluster: { title: "Cluster", type: "string" }, cluster: { title: "Cassandra cluster", type: "string" } };
  Object.assign(world, { purpose: "update", form: { ...form, steps: [{ title: "Basics", schema: { properties } }], values: { name: "photos", deliveryCluster: "prod" } } });
  open("/create/default/bucket?name=photos&cluster=prod");
  expect((await screen.findByLabelText<HTMLInputElement>("Cluster")).value).toBe("prod");
  expect(screen.getByLabelText<HTMLInputElement>("Cassandra cluster").value).toBe("");
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

describe("validation rules", () => {
  const tooLarge = { path: ["spec", "size"], field: "spec.size", formPath: ["size"], message: 'Invalid value: "huge": too large', detail: "too large for this cluster", missing: false };

  test("are shown at their field while typing, and in the review", async () => {
    world.validate = (spec) => (spec.size === "huge" ? refused(tooLarge) : accepted);
    open("/create/default/bucket?step=2");
    await type(/Size/, "huge");
    await screen.findByText("too large for this cluster", undefined, { timeout: 3000 });
    expect((await screen.findByLabelText(/Size/)).getAttribute("aria-invalid")).toBe("true");
    await type(/Size/, "small");
    await waitFor(() => expect(screen.queryByText("too large for this cluster")).toBeNull(), { timeout: 3000 });
  });

  test("that concern the whole resource are shown above the form", async () => {
    world.validate = () => refused({ path: ["spec"], field: "spec", formPath: [], message: "Invalid value: no", detail: "size needs a token", missing: false });
    open("/create/default/bucket?step=2");
    await screen.findByText("The cluster would reject this resource", undefined, { timeout: 3000 });
    await screen.findByText("size needs a token");
  });

  test("are left to the form for fields that are empty", async () => {
    world.validate = () => refused({ ...tooLarge, missing: true, detail: "is required" });
    open("/create/default/bucket?step=2");
    await type(/Size/, "any");
    await new Promise((done) => setTimeout(done, 700));
    expect(screen.queryByText("is required")).toBeNull();
  });

  test("keep the dry run from starting", async () => {
    world.validate = () => refused(tooLarge);
    open();
    await type(/Name/, "photos");
    fireEvent.click(await screen.findByRole("button", { name: "Skip to review" }));
    await screen.findByText("size: too large for this cluster", undefined, { timeout: 3000 });
  });
});

describe("a plan", () => {
  const plan = {
    cluster: "dev",
    composite: { apiVersion: "example.org/v1", kind: "Bucket", name: "photos", action: "create" },
    composition: { name: "fast-buckets" },
    counts: { create: 1, change: 1, delete: 1, unchanged: 0, uncertain: 0, blocked: 0 },
    objects: [
      { apiVersion: "v1", kind: "ConfigMap", generateName: "photos-", action: "create", resource: "settings", manifest: { kind: "ConfigMap" } },
      { apiVersion: "v1", kind: "ResourceQuota", namespace: "shop", name: "limits", action: "change", resource: "quota", fields: [{ path: "spec.pods", old: 2, new: 3 }] },
      { apiVersion: "v1", kind: "Secret", namespace: "shop", name: "old", action: "delete" },
    ],
    results: [{ warning: true, message: "careful" }, { message: "sized for tests", within: "quota" }],
    conditions: [],
    unknown: [{ subject: "metadata.name", message: "generated later" }],
  };
  const review = async (input: object = { manifest: { kind: "Bucket" } }) => {
    world.dryRun = { log: [{ body: { stepId: "apply", status: "completed", message: `Running kubernetes:apply in dry-run mode with inputs (secrets redacted): ${JSON.stringify(input)}` } }], steps: [{ id: "apply", name: "Apply", action: "kubernetes:apply", input: { manifest: { kind: "Bucket" } } }], output: {}, directoryContents: [], changes: [] };
    open();
    await type(/Name/, "photos");
    fireEvent.click(await screen.findByRole("button", { name: "Skip to review" }));
  };

  test("shows what Crossplane would do", async () => {
    world.planning = { on: true };
    world.plan = () => [plan];
    await review();
    await screen.findByText("1 to create, 1 to change, 1 to delete", undefined, { timeout: 3000 });
    const opens = async (text: RegExp) => (await screen.findByText(text)).closest("details") !== null;
    expect(await opens(/ConfigMap photos-\(generated\)/)).toBe(true);
    expect(await opens(/ResourceQuota shop\/limits/)).toBe(true);
    expect(await opens(/Secret shop\/old/)).toBe(false);
    await screen.findByText("careful");
    await screen.findByText("quota: sized for tests");
    await screen.findByText("metadata.name: generated later");
  });

  test("that fails says why, and does not keep from creating", async () => {
    world.planning = { on: true };
    world.plan = () => [{ error: { name: "ConflictError", message: "Cannot make a plan: no Composition matches" } }, 409];
    await review();
    await screen.findByText(/no Composition matches/, undefined, { timeout: 3000 });
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Create" }).disabled).toBe(false);
  });

  test("that fails is made again on demand, unless plans are off by then", async () => {
    world.planning = { on: true };
    world.plan = () => [{ error: { name: "TooManyRequestsError", message: "Cannot make a plan: you have 2 in progress" } }, 429];
    await review();
    const retry = await screen.findByRole("button", { name: "Retry" }, { timeout: 3000 });
    world.plan = () => [{ error: { name: "ServiceUnavailableError", message: "Cannot make a plan: the function is down" } }, 503];
    fireEvent.click(retry);
    await screen.findByText(/the function is down/);
    world.plan = () => [plan];
    fireEvent.click(screen.getByRole("button", { name: "Retry" }));
    await screen.findByText("1 to create, 1 to change, 1 to delete");
    expect(screen.queryByRole("button", { name: "Retry" })).toBeNull();
  });

  test("cannot be made again after plans were turned off", async () => {
    world.planning = { on: true };
    world.plan = () => [{ error: { name: "ServiceUnavailableError", message: "Cannot make a plan: plans are not configured" } }, 503];
    await review();
    const retry = await screen.findByRole("button", { name: "Retry" }, { timeout: 3000 });
    world.planning = { on: false, hint: "set plan.program" };
    fireEvent.click(retry);
    await screen.findByText("Plans are not configured: set plan.program.");
    expect(screen.queryByRole("button", { name: "Retry" })).toBeNull();
  });

  test.each([
    ["the default cluster, whatever a field of the definition says", {}, undefined],
    ["the cluster of the step", { cluster: "prod" }, "prod"],
  ])("is made for %s", async (_, input, cluster) => {
    world.form = { ...form, steps: [{ title: "Basics", schema: { properties: { name: { title: "Name", type: "string" }, cluster: { title: "Cluster", type: "string", default: "cassandra" } } } }, form.steps[1]] };
    world.planning = { on: true };
    const asked: unknown[] = [];
    world.plan = (body) => {
      asked.push((body as { cluster?: string }).cluster);
      return [plan];
    };
    await review({ manifest: { kind: "Bucket" }, ...input });
    await screen.findByText("1 to create, 1 to change, 1 to delete", undefined, { timeout: 3000 });
    expect(asked).toEqual([cluster]);
  });

  test("that is not configured is mentioned to operators only", async () => {
    world.planning = { on: false, hint: "set plan.program" };
    await review();
    await screen.findByText("Plans are not configured: set plan.program.", undefined, { timeout: 3000 });
  });
});
