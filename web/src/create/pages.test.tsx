import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import CreatePage from "./CreatePage";
import type { Values } from "./form/types";
import { lockOf } from "./lock";
import { manifestsOnly, outcomes } from "./review";
import TasksPage from "./TasksPage";
import TemplatePage from "./TemplatePage";

const session = { portalIdentity: { token: "t", expiresInSeconds: 3600, identity: { userEntityRef: "user:default/ann", ownershipEntityRefs: [], type: "user" } }, profile: {} };

type Answer = { status?: number; body: unknown; etag?: string } | "gone";

// portal overrides the stubbed responses in a test.
let portal: (url: string, body: unknown) => Answer | undefined;

const template = { apiVersion: "v1", kind: "Template", metadata: { name: "bucket", namespace: "default", title: "Bucket <b>", description: "For files." }, spec: { type: "storage", owner: "group:default/red", steps: [] }, relations: [] };
const other = { ...template, metadata: { name: "bucket-delete", title: "Delete", annotations: { "portal.io/template-purpose": "delete" } } };
const schema = { required: ["name"], properties: { name: { title: "Name", type: "string", pattern: "^[a-z]+$" }, size: { title: "Size", type: "string" } } };
const form = (properties: object = schema) => ({ title: "Bucket <b>", steps: [{ title: "Basics", schema: properties }] });

function usual(url: string, body: unknown): Answer {
  if (url.endsWith("/providers")) return { body: { guest: false, oidc: true } };
  if (url.endsWith("/refresh")) return { body: session };
  if (url.endsWith("/authorize")) return { body: { items: (body as { items: { id: string }[] }).items.map((i) => ({ id: i.id, result: "ALLOW" })) } };
  if (url.includes("/parameter-schema")) return { body: form(), etag: '"1"' };
  if (url.includes("/v2/templates")) return { body: [template, other] };
  if (url.includes("/by-name/template")) return { body: template };
  if (url.endsWith("/dry-run")) return { body: { log: [], steps: [], output: {}, directoryContents: [], changes: [] } };
  if (url.includes("/v2/tasks?")) return { body: { tasks: [], totalTasks: 0 } };
  return { status: 404, body: { error: { name: "NotFoundError", message: `nothing at ${url}` } } };
}

const sent: { url: string; body: unknown }[] = [];

beforeEach(() => {
  portal = () => undefined;
  sent.length = 0;
  localStorage.clear();
  window.scrollTo = () => undefined;
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => {
    const body = typeof init?.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
    sent.push({ url, body });
    const answer = portal(url, body) ?? usual(url, body);
    if (answer === "gone") {
      return Promise.reject(new TypeError("gone"));
    }
    return Promise.resolve(new Response(JSON.stringify(answer.body), { status: answer.status ?? 200, headers: answer.etag ? { ETag: answer.etag } : {} }));
  });
});

// drafts returns the stored drafts.
const drafts = () => Object.entries(localStorage as unknown as Record<string, string>).flatMap(([key, text]) => (key.startsWith("portal-draft:") ? [text] : []));

const open = () =>
  render(
    <Testbed path="/create/default/bucket" route="/create/:namespace/:name">
      <TemplatePage />
    </Testbed>,
  );

async function fill(name: string) {
  fireEvent.change(await screen.findByLabelText(/Name/), { target: { value: name } });
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>(/Name/).value).toBe(name));
  fireEvent.submit(document.getElementById("template-form")!);
}

async function create() {
  const button = await screen.findByRole("button", { name: "Create" });
  await waitFor(() => expect(button.hasAttribute("disabled")).toBe(false));
  fireEvent.click(button);
}

describe("TemplatePage", () => {
  test("warns if a cluster is needed and none is configured", async () => {
    const applying = { ...template, spec: { ...template.spec, steps: [{ action: "kubernetes:apply" }] } };
    let clusters: object[] = [];
    portal = (url) => (url.includes("/by-name/template") ? { body: applying } : url.endsWith("/autocomplete/cluster/clusters") ? { body: { results: clusters } } : undefined);
    const { unmount } = open();
    expect((await screen.findByRole("note")).textContent).toMatch(/No cluster configured.*no cluster to apply it to/);
    unmount();
    clusters = [{ id: "dev" }];
    sent.length = 0;
    open();
    await waitFor(() => expect(sent.some((s) => s.url.endsWith("/autocomplete/cluster/clusters"))).toBe(true));
    await screen.findByLabelText(/Name/);
    expect(screen.queryByRole("note")).toBeNull();
  });

  test("is locked with a reason while the cluster does not serve the resource, and unlocks automatically", async () => {
    const unserved = JSON.stringify([{ cluster: "prod", condition: "Established", status: "False", reason: "Broken", message: "the CRD is <b>refused</b>" }]);
    const applying = { ...template, spec: { ...template.spec, steps: [{ action: "kubernetes:apply" }] } };
    const locked = { ...applying, metadata: { ...template.metadata, annotations: { "crossplane.io/xrd-name": "xs.example.org", "crossplane.io/unserved": unserved, "backstage.io/discovered-from": "prod" } } };
    let now: object = locked;
    let clusters = [{ id: "prod" }];
    portal = (url) => (url.includes("/by-name/template") ? { body: now } : url.endsWith("/autocomplete/cluster/clusters") ? { body: { results: clusters } } : url.endsWith("/v2/tasks") ? { status: 201, body: { id: "7" } } : undefined);
    const { unmount } = open();
    expect((await screen.findByRole("alert")).textContent).toMatch(/Form locked: API not served by prod.*Cluster prod: XRD xs\.example\.org: Established is False: Broken: the CRD is <b>refused<\/b>/);
    await fill("abc");
    const button = await screen.findByRole("button", { name: "Create" });
    await waitFor(() => expect(sent.some((s) => s.url.endsWith("/authorize"))).toBe(true));
    expect(button.hasAttribute("disabled")).toBe(true);
    expect(sent.some((s) => s.url.endsWith("/dry-run"))).toBe(false);
    now = applying;
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull(), { timeout: 8_000 });
    await create();
    await waitFor(() => expect(sent.some((s) => s.url.endsWith("/v2/tasks"))).toBe(true));
    unmount();
    // Another cluster serves it.
    now = locked;
    clusters = [{ id: "spare" }];
    open();
    expect((await screen.findByRole("note")).textContent).toMatch(/API not served by prod.*other clusters/);
    expect(screen.queryByRole("alert")).toBeNull();
  }, 15_000);

  test("sends the input and deletes the draft", async () => {
    portal = (url) => (url.endsWith("/v2/tasks") ? { status: 201, body: { id: "7" } } : undefined);
    open();
    await fill("abc");
    await screen.findByText("Your input");
    await create();
    await waitFor(() => expect(sent.find((s) => s.url.endsWith("/v2/tasks"))?.body).toEqual({ templateRef: "template:default/bucket", values: { name: "abc" } }));
    await waitFor(() => expect(drafts()).toEqual([]));
  });

  test("keeps the input while the portal is unreachable", async () => {
    open();
    await fill("abc");
    await screen.findByText("Your input");
    portal = (url) => (url.includes("/scaffolder/") ? "gone" : undefined);
    await create();
    expect(await screen.findByText(/kept in this browser/)).toBeTruthy();
    await waitFor(() => expect(drafts().join()).toContain("abc"));
  });

  test("opens the page and field of a server-side validation error", async () => {
    portal = (url) => (url.endsWith("/v2/tasks") ? { status: 400, body: { errors: [{ path: ["size"], name: "x", message: "is taken" }] } } : undefined);
    open();
    await fill("abc");
    await screen.findByText("Your input");
    await create();
    expect(await screen.findAllByText(/is taken/)).not.toHaveLength(0);
    expect(screen.getByLabelText(/Size/).getAttribute("aria-invalid")).toBe("true");
  });

  test("reports a changed form and keeps valid values", async () => {
    open();
    fireEvent.change(await screen.findByLabelText(/Size/), { target: { value: "large" } });
    await fill("abc");
    await screen.findByText("Your input");
    portal = (url) => (url.includes("/parameter-schema") ? { body: form({ properties: { name: { title: "Name", type: "string" }, more: { title: "More", type: "string" } } }), etag: '"2"' } : undefined);
    await create();
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain("This form changed while you were editing");
    expect(note.textContent).toContain("New fields: More.");
    expect(note.textContent).toContain("Removed fields: Size.");
    expect(note.textContent).toContain("Your value for Size was dropped: large.");
    expect((await screen.findByLabelText<HTMLInputElement>("Name")).value).toBe("abc");
    expect(screen.getByLabelText("More")).toBeTruthy();
    expect(sent.some((s) => s.url.endsWith("/v2/tasks"))).toBe(false);
  });

  test("skips the dry run while values are missing, and shows the errors", async () => {
    render(
      <Testbed path="/create/default/bucket?step=2" route="/create/:namespace/:name">
        <TemplatePage />
      </Testbed>,
    );
    fireEvent.click(await screen.findByText("Show errors"));
    expect(await screen.findAllByText(/This field is required\./)).not.toHaveLength(0);
    expect(sent.some((s) => s.url.endsWith("/dry-run"))).toBe(false);
  });

  test("restores the draft after a reload", async () => {
    const { unmount } = open();
    fireEvent.change(await screen.findByLabelText(/Name/), { target: { value: "kept" } });
    await waitFor(() => expect(drafts()).toHaveLength(1));
    unmount();
    const [key] = Object.keys(localStorage).filter((k) => k.startsWith("portal-draft:"));
    localStorage.setItem(key!, JSON.stringify({ ...(JSON.parse(localStorage.getItem(key!)!) as object), at: Date.now() - 2 * 3_600_000 }));
    open();
    expect((await screen.findByLabelText<HTMLInputElement>(/Name/)).value).toBe("kept");
    expect(screen.getByText("Restored your draft from 2 hours ago.")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Discard draft" }));
    await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>(/Name/).value).toBe(""));
    expect(screen.queryByText(/Restored your draft/)).toBeNull();
    expect(drafts()).toEqual([]);
  });
});

describe("CreatePage", () => {
  const cards = (path: string) =>
    render(
      <Testbed path={path}>
        <CreatePage />
      </Testbed>,
    );
  test("shows cards and escapes markup", async () => {
    cards("/create");
    expect(await screen.findByText("Bucket <b>")).toBeTruthy();
    expect(screen.queryByText("Delete")).toBeNull();
  });
  test("filters cards by the URL", async () => {
    cards("/create?q=nothing-like-it");
    expect(await screen.findByText("No results")).toBeTruthy();
  });
});

test("a form is locked for the clusters that do not serve it", () => {
  const entry = (cluster: string, condition = "Established") => ({ cluster, condition, status: "False" });
  const made = (unserved: unknown, action = "cluster:apply") => ({ ...template, metadata: { ...template.metadata, annotations: { "composer.io/unserved": typeof unserved === "string" ? unserved : JSON.stringify(unserved), "portal.io/discovered-from": "a,b" } }, spec: { steps: [{ action }] } });
  const locks = (t: object, values: Values = {}, only?: string) => lockOf(t, values, only).map((u) => u.cluster);
  expect(locks(made([entry("a")]), { deliveryCluster: "a" })).toEqual(["a"]);
  expect(locks(made([entry("a")]), { deliveryCluster: "b" })).toEqual([]);
  expect(locks(made([entry("a")]), {}, "a")).toEqual(["a"]);
  expect(locks(made([entry("a")]))).toEqual([]);
  expect(locks(made([entry("a"), entry("b", "Offered")]))).toEqual(["a", "b"]);
  expect(locks(made([entry("a")]), { deliveryCluster: "a", delivery: "change-request" })).toEqual([]);
  expect(locks(made([entry("a")], "publish:change-request"), { deliveryCluster: "a" })).toEqual([]);
  expect(locks(made([entry("a")], "cluster:delete"), { deliveryCluster: "a" })).toEqual([]);
  for (const bad of ["{", "{}", "[1]", '[{"cluster":"a"}]']) {
    expect(locks(made(bad), { deliveryCluster: "a" })).toEqual([]);
  }
});

test("an empty task list shows an empty state", async () => {
  render(
    <Testbed path="/tasks">
      <TasksPage />
    </Testbed>,
  );
  expect(await screen.findByText("No tasks yet")).toBeTruthy();
});

test("outcomes reads the log and changes of a dry run", () => {
  const said = (message: string, status?: string) => ({ body: { stepId: "a", message, status } });
  const change = { stepId: "a", where: "main of acme/live", name: "a/b.yaml", change: "add" as const, after: "kind: Bucket\n" };
  const [o] = outcomes({
    steps: [{ id: "a", name: "Propose", action: "publish:change-request" }],
    output: {},
    log: [said("Beginning step Propose", "processing"), said('Running x in dry-run mode with inputs (secrets redacted): {"manifest": {"kind": "Bucket"}}'), said("add a/b.yaml"), said("add 3 more files"), said("Finished step Propose", "completed")],
    changes: [change, { ...change, stepId: "b" }],
  });
  expect(o).toEqual({ step: "a", name: "Propose", status: "completed", lines: ["add 3 more files"], changes: [change], manifests: [{ step: "a", action: "x", content: { kind: "Bucket" }, merge: false }] });
});

test("manifests without a dry run keep the cluster of their step", () => {
  const input = { manifest: { kind: "Bucket" }, cluster: "${{ parameters.deliveryCluster }}", takeOver: true };
  const template = { kind: "Template", metadata: { name: "x" }, spec: { steps: [{ id: "a", action: "cluster:apply", input }] } } as unknown as Parameters<typeof manifestsOnly>[0];
  expect((manifestsOnly(template).spec as unknown as { steps: unknown }).steps).toEqual([{ id: "a", action: "debug:log", input: { extra: { manifest: input.manifest, cluster: input.cluster } } }]);
  const [o] = outcomes({
    steps: [{ id: "a", name: "Apply", action: "debug:log" }],
    output: {},
    log: [{ body: { stepId: "a", message: 'Running debug:log in dry-run mode with inputs (secrets redacted): {"extra":{"manifest":{"kind":"Bucket"},"cluster":"dev"}}', status: "completed" } }],
    changes: [],
  });
  expect(o?.manifests).toEqual([{ step: "a", action: "debug:log", content: { kind: "Bucket" }, merge: false, cluster: "dev" }]);
});

test("the dry run shows diffs and why some files are hidden", async () => {
  const change = { stepId: "a", where: "main of acme/live", change: "change" };
  portal = (url) =>
    url.endsWith("/dry-run")
      ? {
          body: {
            log: [{ body: { stepId: "a", status: "completed", message: "Finished step Propose" } }],
            steps: [{ id: "a", name: "Propose", action: "publish:change-request" }],
            output: {},
            directoryContents: [],
            changes: [
              { ...change, name: "a/b.yaml", before: "size: small\nkind: Bucket\n", after: "size: large\nkind: Bucket\n" },
              { ...change, name: "a/c.yaml", hidden: "secret" },
            ],
          },
        }
      : undefined;
  open();
  await fill("abc");
  const shown = await screen.findByRole("region", { name: "Diff of a/b.yaml" });
  expect(shown.textContent).toBe("removed: - size: smalladded: + size: large  kind: Bucket");
  expect(screen.getByText("Not shown: contains a Secret.")).toBeTruthy();
});
