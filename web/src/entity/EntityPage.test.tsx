import { configure, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import EntityPage from "./EntityPage";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

const photos = {
  apiVersion: "portal.io/v1alpha1",
  kind: "Resource",
  metadata: {
    name: "photos-1",
    namespace: "default",
    title: "<b>photos</b>",
    description: "<script>alert(1)</script>",
    annotations: {
      "composer.io/xrd-name": "buckets.example.org",
      "composer.io/xrd-version": "v1",
      "composer.io/condition-ready": "False (Creating)",
      "composer.vendor.io/xr-name": "photos",
      "composer.vendor.io/xr-kind": "Bucket",
      "portal.io/cluster-namespace": "shop",
      "portal.io/discovered-from": "production",
    } as Record<string, string>,
    links: [{ url: "javascript:alert(1)", title: "Run" }, { url: "https://photos.example.org", title: "Open" }],
  },
  spec: { type: "composer-xr", owner: "team", system: "shop", readiness: "not ready" },
  relations: [
    { type: "dependsOn", targetRef: "resource:default/buckets-xrd" },
    { type: "ownedBy", targetRef: "group:default/team" },
  ],
};

const generated: unknown[] = [
  { kind: "Template", metadata: { name: "bucket", annotations: { "composer.io/xrd-version": "v1" } } },
  { kind: "Template", metadata: { name: "bucket-update", annotations: { "composer.io/xrd-version": "v1", "portal.io/template-purpose": "update" } } },
  { kind: "API", metadata: { name: "bucket-api" }, spec: { type: "openapi" } },
  { kind: "Resource", metadata: { name: "buckets-xrd" }, spec: { type: "composer-xrd" } },
];
const pictures = { kind: "Resource", metadata: { name: "pictures-1", title: "pictures" }, spec: { readiness: "ready" } };

const explanation = {
  name: "buckets.example.org",
  takenBy: "composerIngestor",
  copies: [{ source: "composerIngestor/production" }],
  compositions: 0,
  composites: 1,
  entities: ["template:default/bucket"],
  values: [{ field: "owner", value: "team", from: "annotation", key: "portal.io/owner" }],
  findings: [{ rule: "XRD050", severity: "warning", message: "no description", hint: "write one" }],
};

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:development/guest", ownershipEntityRefs: [] } };

let entity: unknown;
// family are the entities of the definition.
let family: unknown[];
let allowed: boolean;
let conditions: unknown[] | undefined;
let status: { code: number; body: unknown } | undefined;
// streamed is what the event stream sends, and parts are the bodies of object and history.
let streamed: string | undefined;
let parts: Record<string, unknown>;

beforeEach(() => {
  entity = structuredClone(photos);
  family = generated;
  allowed = true;
  conditions = undefined;
  status = undefined;
  streamed = undefined;
  parts = {};
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (url.startsWith("/api/auth/providers")) {
      return answer({ guest: true, oidc: false });
    }
    if (url.startsWith("/api/auth/guest/refresh")) {
      return answer({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    if (url.startsWith("/api/permission/authorize")) {
      const { items } = JSON.parse(String(init.body)) as { items: unknown[] };
      return answer({ items: items.map((_, i) => ({ id: String(i), result: allowed ? "ALLOW" : "DENY" })) });
    }
    if (url.startsWith("/api/catalog/entities/by-name")) {
      return entity ? answer(entity) : answer({ error: { name: "NotFoundError", message: "none" } }, 404);
    }
    if (url.startsWith("/api/catalog/entities/by-query")) {
      const asked = String(init.body);
      if (asked.includes('"metadata.name":"photos-1"')) {
        return answer({ items: [{ kind: "Component", metadata: { name: "photos-1", namespace: "shop" } }] });
      }
      return asked.includes("composer-xr\"") ? answer({ items: [pictures], totalItems: 12 }) : answer({ items: family, totalItems: family.length, pageInfo: {} });
    }
    if (url.startsWith("/api/catalog/entities/by-refs")) {
      const { entityRefs } = JSON.parse(String(init.body)) as { entityRefs: string[] };
      return answer({ items: entityRefs.map((ref) => (ref.startsWith("group:") ? null : { kind: "Resource" })) });
    }
    if (url.startsWith("/api/composer-ingestor/conditions/")) {
      return conditions ? answer({ items: conditions }) : answer({ error: { name: "NotFoundError", message: "none" } }, 404);
    }
    const part = /^\/api\/resources\/by-name\/.*\/(eventstream|object|history)$/.exec(url)?.[1];
    if (part) {
      const stream = part === "eventstream" && streamed !== undefined;
      return stream ? new Response(streamed, { headers: { "Content-Type": "text/event-stream" } }) : answer(parts[part] ?? { error: { name: "NotFoundError", message: "none" } }, parts[part] ? 200 : 404);
    }
    if (url.startsWith("/api/resources/by-name/")) {
      return status ? answer(status.body, status.code) : answer({ error: { name: "NotFoundError", message: "none" } }, 404);
    }
    if (url.startsWith("/api/composer-ingestor/explain/")) {
      return answer(explanation);
    }
    return answer({}, 404);
  });
});

function open(query = "") {
  return render(
    <Testbed path={`/catalog/default/resource/photos-1${query}`} route="/catalog/:namespace/:kind/:name">
      <EntityPage />
    </Testbed>,
  );
}

describe("EntityPage", () => {
  it("escapes markup and links only to safe URLs", async () => {
    const { container } = open();
    expect(await screen.findByRole("heading", { level: 1, name: "<b>photos</b>" })).toBeTruthy();
    expect(screen.getByText("<script>alert(1)</script>")).toBeTruthy();
    expect(container.querySelector("script, b")).toBeNull();
    expect(screen.getByRole("link", { name: "Open" }).getAttribute("href")).toBe("https://photos.example.org/");
    expect(screen.queryByRole("link", { name: "Run" })).toBeNull();
    expect(screen.getByText("Not ready")).toBeTruthy();
  });

  it("links to the catalog and to the definition above it", async () => {
    open();
    const trail = within(await screen.findByRole("navigation", { name: "Breadcrumb" }));
    expect(trail.getByRole("link", { name: "Catalog" }).getAttribute("href")).toBe("/catalog");
    expect((await trail.findByRole("link", { name: "bucket" })).getAttribute("href")).toBe("/catalog/default/resource/buckets-xrd");
  });

  it("links a definition to its form, its API and its resources", async () => {
    const definition = structuredClone(photos);
    definition.spec.type = "composer-xrd";
    entity = definition;
    open();
    expect((await screen.findByRole("link", { name: "Create" })).getAttribute("href")).toBe("/create/default/bucket");
    expect(screen.getByRole("link", { name: "API" }).getAttribute("href")).toBe("/catalog/default/api/bucket-api?tab=api");
    const resources = within(await screen.findByRole("region", { name: "Resources (12)" }));
    expect(resources.getByRole("link", { name: "pictures" }).getAttribute("href")).toBe("/catalog/default/resource/pictures-1");
    expect(resources.getByText("Ready")).toBeTruthy();
    expect(resources.getByRole("link", { name: "Show all 12 resources" })).toBeTruthy();
  });

  it("links an API to its form and its definition", async () => {
    const api = structuredClone(photos);
    Object.assign(api, { kind: "API" });
    api.spec.type = "openapi";
    entity = api;
    open();
    expect((await screen.findByRole("link", { name: "Create" })).getAttribute("href")).toBe("/create/default/bucket");
    const about = within(screen.getByRole("region", { name: "About" }));
    expect(about.getByRole("link", { name: "buckets-xrd" })).toBeTruthy();
    expect(about.getByRole("link", { name: "bucket" }).getAttribute("href")).toBe("/create/default/bucket");
  });

  it("says what a deletion takes along", async () => {
    family = [...family, { kind: "Template", metadata: { name: "bucket-delete", annotations: { "composer.io/xrd-version": "v1", "portal.io/template-purpose": "delete" } } }];
    const child = { ref: { apiVersion: "a/v1", kind: "Instance", name: "x7k" }, state: "present", readiness: "ready" };
    const tree = { ref: { apiVersion: "a/v1", kind: "Bucket", name: "photos" }, state: "present", readiness: "ready", children: [child], more: 2 };
    status = { code: 200, body: { cluster: "production", ready: true, tree, events: [], read: "2026-01-02T03:04:05Z" } };
    open();
    await userEvent.hover(await screen.findByRole("link", { name: "Delete" }));
    expect(await screen.findByText("Also deletes the 3 objects that it composes.")).toBeTruthy();
  });

  it("offers the update Template of the definition, prefilled for the object", async () => {
    open();
    const update = await screen.findByRole("link", { name: "Update" });
    expect(update.getAttribute("href")).toBe("/create/default/bucket-update?name=photos&namespace=shop&cluster=production");
    expect(screen.queryByRole("link", { name: "Delete" })).toBeNull();
  });

  it("explains why an action is disabled", async () => {
    allowed = false;
    open();
    const why = await screen.findByRole("note", { name: /Guests cannot do this/ });
    expect(within(why).getByRole("button", { name: "Update" }).hasAttribute("disabled")).toBe(true);
    expect(screen.queryByRole("link", { name: "Update" })).toBeNull();
  });

  it("says why a resource is not ready, and shows its objects", async () => {
    const child = { ref: { apiVersion: "a/v1", kind: "Instance", name: "x7k" }, state: "present", readiness: "not ready", conditions: [{ type: "Synced", status: "False", reason: "ReconcileError", message: "no subnet" }] };
    const hidden = { ref: { apiVersion: "v1", kind: "Secret", name: "s" }, state: "forbidden", readiness: "unknown", problem: "add this rule" };
    const tree = { ref: { apiVersion: "a/v1", kind: "Bucket", name: "photos" }, state: "present", readiness: "not ready", children: [child, hidden], more: 7 };
    const reason = { path: [child.ref], object: child.ref, message: "no subnet", source: "Synced", sentence: "Instance x7k: no subnet" };
    status = { code: 200, body: { cluster: "production", ready: false, reason, tree, events: [], read: "2026-01-02T03:04:05Z" } };
    open();
    const why = within(await screen.findByRole("group", { name: "Not ready" }));
    expect(why.getByRole("status").textContent).toBe("Instance x7kno subnet");
    await userEvent.click(screen.getByRole("link", { name: "Show all objects" }));
    const objects = within(await screen.findByRole("region", { name: "Objects" }));
    expect(objects.getByText("ReconcileError: no subnet")).toBeTruthy();
    expect(objects.getByText("forbidden")).toBeTruthy();
    expect(objects.getByText("add this rule")).toBeTruthy();
    expect(objects.getByRole("button", { name: "Show 7 more" })).toBeTruthy();
  });

  it("offers to change the field that a reason is about", async () => {
    const root = { apiVersion: "a/v1", kind: "Bucket", name: "photos" };
    const reason = { path: [], object: root, message: "spec.region: no", source: "Synced", sentence: "spec.region: no", field: "spec.region" };
    const body = { cluster: "production", ready: false, reason, events: [], tree: { ref: root, state: "present", readiness: "not ready" }, read: "2026-01-02T03:04:05Z" };
    streamed = `event: status\ndata: ${JSON.stringify(body)}\n\n`;
    open();
    const button = await screen.findByRole("link", { name: "Change region" });
    expect(button.getAttribute("href")).toBe("/create/default/bucket-update?name=photos&namespace=shop&cluster=production&field=spec.region");
  });

  it("shows specification, status, and the name of the connection secret", async () => {
    parts["object"] = {
      cluster: "production",
      object: { metadata: { namespace: "shop" }, spec: { size: "small", writeConnectionSecretToRef: { name: "photos-conn" } }, status: { url: "https://photos.example.org/x", odd: "javascript:alert(1)", conditions: [] } },
    };
    open();
    const spec = within(await screen.findByRole("region", { name: "Specification" }));
    expect(spec.getByText("small")).toBeTruthy();
    const reported = within(screen.getByRole("region", { name: "Reported by the cluster" }));
    expect(reported.getByRole("link").getAttribute("href")).toBe("https://photos.example.org/x");
    expect(screen.getByText(/^kubectl get secret photos-conn --namespace shop /)).toBeTruthy();
  });

  it("lists what tasks have done", async () => {
    parts["history"] = { items: [{ task: "t1", template: "template:default/bucket-update", by: "user:default/ada", at: "2026-01-02T03:04:05Z", operation: "update", fields: ["spec.size"] }] };
    open("?tab=history");
    const table = within(await screen.findByRole("region", { name: "History" }));
    expect(table.getByText("spec.size")).toBeTruthy();
    expect(table.getByRole("link", { name: "View task" }).getAttribute("href")).toBe("/tasks/t1");
  });

  it("says since when the cluster cannot be read", async () => {
    streamed = 'event: problem\ndata: {"message":"Cluster production cannot be reached","lastRead":"2026-01-02T03:04:05Z"}\n\n';
    open();
    expect((await screen.findByText(/cluster production cannot be reached/)).textContent).toMatch(/^Last read .* ago: cluster production cannot be reached\.$/);
  });

  it("says since when a stale entity may be out of date, and to operators what cannot be read", async () => {
    const stale = structuredClone(photos);
    Object.assign(stale.metadata.annotations, { "portal.io/stale": "production/buckets", "portal.io/stale-since": new Date(Date.now() - 720_000).toISOString() });
    entity = stale;
    const { unmount } = open("?tab=yaml");
    expect((await screen.findByText(/cluster production cannot be read/)).textContent).toBe("Last read 12 minutes ago: cluster production cannot be read.");
    expect(await screen.findByText(/Cannot read production\/buckets/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "Ingestion status" })).toBeTruthy();
    unmount();
    allowed = false;
    open();
    await screen.findByText(/cluster production cannot be read/);
    await screen.findByRole("note", { name: /Guests cannot do this/ });
    expect(screen.queryByText(/production\/buckets\./)).toBeNull();
    expect(screen.queryByRole("link", { name: "Ingestion status" })).toBeNull();
  });

  it("does not show the last state as the current one if the permission is lost", async () => {
    const root = { apiVersion: "a/v1", kind: "Bucket", name: "photos" };
    const reason = { path: [], object: root, message: "no subnet", source: "Synced", sentence: "no subnet" };
    const body = { cluster: "production", ready: false, reason, events: [], tree: { ref: root, state: "present", readiness: "not ready" }, read: "2026-01-02T03:04:05Z" };
    streamed = `event: status\ndata: ${JSON.stringify(body)}\n\n`;
    open();
    await screen.findByText("no subnet");
    // The stream has ended; the next one is refused, as is the status.
    streamed = undefined;
    status = { code: 403, body: { error: { name: "NotAllowedError", message: "You may not read it" } } };
    expect(await screen.findByText(/You may not read it/, undefined, { timeout: 5_000 })).toBeTruthy();
  });

  it("says that the cluster cannot be read", async () => {
    status = { code: 503, body: { error: { name: "ServiceUnavailableError", message: "Cluster production cannot be reached" } } };
    open();
    expect(await screen.findByText(/Cluster production cannot be reached/)).toBeTruthy();
    expect(screen.getByText("This may be out of date")).toBeTruthy();
  });

  it("keeps the tab in the URL", async () => {
    open("?tab=conditions");
    const table = within(await screen.findByRole("region", { name: "Conditions" }));
    expect(table.getByText("Creating")).toBeTruthy();
    await userEvent.click(screen.getByRole("tab", { name: "YAML" }));
    expect((await screen.findByRole("region", { name: /YAML of/ })).textContent).toContain("kind: Resource");
  });

  it("refreshes conditions", async () => {
    open("?tab=conditions");
    await screen.findByText("Creating");
    const next = structuredClone(photos);
    next.metadata.annotations["composer.io/condition-ready"] = "True";
    entity = next;
    const table = within(screen.getByRole("region", { name: "Conditions" }));
    expect(await table.findByText("True")).toBeTruthy();
  });

  it("shows message and time of conditions", async () => {
    conditions = [
      { type: "Synced", status: "True", reason: "ReconcileSuccess" },
      { type: "Ready", status: "False", reason: "Waiting", message: "<b>1 of 3</b>", lastTransitionTime: new Date(Date.now() - 7_200_000).toISOString() },
    ];
    open("?tab=conditions");
    const table = within(await screen.findByRole("region", { name: "Conditions" }));
    expect(await table.findByText("<b>1 of 3</b>")).toBeTruthy();
    expect(table.getAllByRole("rowheader").map((th) => th.textContent)).toEqual(["Ready", "Synced"]);
    expect(table.getByText("2 hours ago")).toBeTruthy();
  });

  it("does not link to missing entities", async () => {
    open();
    expect((await screen.findAllByText("(not in the catalog)")).length).toBeGreaterThan(0);
    expect(screen.queryByRole("link", { name: "team" })).toBeNull();
    expect(screen.getAllByRole("link", { name: "buckets-xrd" }).length).toBeGreaterThan(0);
  });

  it("tells that the entity was removed and links to others", async () => {
    open("?tab=conditions");
    await screen.findByText("Creating");
    entity = undefined;
    expect(await screen.findByText("Bucket photos has been removed")).toBeTruthy();
    expect(screen.getByRole("link", { name: "View others of this type" }).getAttribute("href")).toBe("/catalog?kind=Resource&type=composer-xr");
  });

  it("shows a missing owner", async () => {
    const alone = structuredClone(photos);
    alone.spec.owner = "";
    entity = alone;
    open();
    expect(await screen.findByText("No owner")).toBeTruthy();
  });

  it("explains where values come from to users with permission", async () => {
    open("?tab=explain");
    expect(await screen.findByText(/an annotation of the definition/)).toBeTruthy();
    expect(screen.getByText("no description")).toBeTruthy();
    expect(screen.queryByText(/the resource itself/)).toBeNull();
  });

  it("hides the explanation without permission", async () => {
    allowed = false;
    open("?tab=explain");
    expect(await screen.findByText("Permission required")).toBeTruthy();
  });

  it("shows a not-found state", async () => {
    entity = undefined;
    open();
    expect(await screen.findByRole("heading", { level: 1, name: "Cannot find resource photos-1" })).toBeTruthy();
    expect(screen.getByRole<HTMLInputElement>("searchbox").value).toBe("photos-1");
    expect((await screen.findByRole("link", { name: "shop/photos-1" })).getAttribute("href")).toBe("/catalog/shop/component/photos-1");
    expect(screen.getByText("Component in namespace shop")).toBeTruthy();
  });
});
