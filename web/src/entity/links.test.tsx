import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { openPage, photos, startWorld } from "./pageTesting";

let world: ReturnType<typeof startWorld>;

beforeEach(() => {
  world = startWorld();
});

describe("EntityPage: links, actions and reasons", () => {
  it("links to the catalog and to the definition above it", async () => {
    openPage();
    const trail = within(await screen.findByRole("navigation", { name: "Breadcrumb" }));
    expect(trail.getByRole("link", { name: "Catalog" }).getAttribute("href")).toBe("/catalog");
    expect((await trail.findByRole("link", { name: "bucket" })).getAttribute("href")).toBe("/catalog/default/resource/buckets-xrd");
  });

  it("links a definition to its form, its API and its resources", async () => {
    const definition = structuredClone(photos);
    definition.spec.type = "composer-xrd";
    world.entity = definition;
    openPage();
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
    world.entity = api;
    openPage();
    expect((await screen.findByRole("link", { name: "Create" })).getAttribute("href")).toBe("/create/default/bucket");
    const about = within(screen.getByRole("region", { name: "About" }));
    expect(about.getByRole("link", { name: "buckets-xrd" })).toBeTruthy();
    expect(about.getByRole("link", { name: "bucket" }).getAttribute("href")).toBe("/create/default/bucket");
  });

  it("says what a deletion takes along", async () => {
    world.family = [...world.family, { kind: "Template", metadata: { name: "bucket-delete", annotations: { "composer.io/xrd-version": "v1", "portal.io/template-purpose": "delete" } } }];
    const child = { ref: { apiVersion: "a/v1", kind: "Instance", name: "x7k" }, state: "present", readiness: "ready" };
    const tree = { ref: { apiVersion: "a/v1", kind: "Bucket", name: "photos" }, state: "present", readiness: "ready", children: [child], more: 2 };
    world.status = { code: 200, body: { cluster: "production", ready: true, tree, events: [], read: "2026-01-02T03:04:05Z" } };
    openPage();
    await userEvent.hover(await screen.findByRole("link", { name: "Delete" }));
    expect(await screen.findByText("Also deletes the 3 objects that it composes.")).toBeTruthy();
  });

  it("offers the update Template of the definition, prefilled for the object", async () => {
    openPage();
    const update = await screen.findByRole("link", { name: "Update" });
    expect(update.getAttribute("href")).toBe("/create/default/bucket-update?name=photos&namespace=shop&cluster=production");
    expect(screen.queryByRole("link", { name: "Delete" })).toBeNull();
  });

  it("explains why an action is disabled", async () => {
    world.allowed = false;
    openPage();
    const why = await screen.findByRole("note", { name: /Not available to guests/ });
    expect(within(why).getByRole("button", { name: "Update" }).hasAttribute("disabled")).toBe(true);
    expect(screen.queryByRole("link", { name: "Update" })).toBeNull();
  });

  it("says why a resource is not ready, and shows its objects", async () => {
    const child = { ref: { apiVersion: "a/v1", kind: "Instance", name: "x7k" }, state: "present", readiness: "not ready", conditions: [{ type: "Synced", status: "False", reason: "ReconcileError", message: "no subnet" }] };
    const hidden = { ref: { apiVersion: "v1", kind: "Secret", name: "s" }, state: "forbidden", readiness: "unknown", problem: "add this rule" };
    const tree = { ref: { apiVersion: "a/v1", kind: "Bucket", name: "photos" }, state: "present", readiness: "not ready", children: [child, hidden], more: 7 };
    const reason = { path: [child.ref], object: child.ref, message: "no subnet", source: "Synced", sentence: "Instance x7k: no subnet" };
    world.status = { code: 200, body: { cluster: "production", ready: false, reason, tree, events: [], read: "2026-01-02T03:04:05Z" } };
    openPage();
    const why = within(await screen.findByRole("group", { name: "Not ready" }));
    expect(why.getByRole("status").textContent).toBe("no subnetInstance x7k");
    await userEvent.click(screen.getByRole("link", { name: "Show all objects" }));
    const objects = within(await screen.findByRole("region", { name: "Objects" }));
    expect(objects.getByText("ReconcileError: no subnet")).toBeTruthy();
    expect(objects.getByText("Forbidden")).toBeTruthy();
    expect(objects.getByText("add this rule")).toBeTruthy();
    expect(objects.getByRole("button", { name: "Show 7 more" })).toBeTruthy();
  });

  it("offers to change the field that a reason is about", async () => {
    const root = { apiVersion: "a/v1", kind: "Bucket", name: "photos" };
    const reason = { path: [], object: root, message: "spec.region: no", source: "Synced", sentence: "spec.region: no", field: "spec.region" };
    const body = { cluster: "production", ready: false, reason, events: [], tree: { ref: root, state: "present", readiness: "not ready" }, read: "2026-01-02T03:04:05Z" };
    world.streamed = `event: status\ndata: ${JSON.stringify(body)}\n\n`;
    openPage();
    const button = await screen.findByRole("link", { name: "Edit region" });
    expect(button.getAttribute("href")).toBe("/create/default/bucket-update?name=photos&namespace=shop&cluster=production&field=spec.region");
  });

  it("says since when the cluster cannot be read", async () => {
    world.streamed = 'event: problem\ndata: {"message":"Cluster production cannot be reached","lastRead":"2026-01-02T03:04:05Z"}\n\n';
    openPage();
    expect((await screen.findByText(/cluster production cannot be reached/)).textContent).toMatch(/^Last synced .* ago: cluster production cannot be reached\.$/);
  });

  it("says since when a stale entity may be out of date, and to operators what cannot be read", async () => {
    const stale = structuredClone(photos);
    Object.assign(stale.metadata.annotations, { "portal.io/stale": "production/buckets", "portal.io/stale-since": new Date(Date.now() - 720_000).toISOString() });
    world.entity = stale;
    const { unmount } = openPage("?tab=yaml");
    expect((await screen.findByText(/cluster production cannot be read/)).textContent).toBe("Last synced 12 minutes ago: cluster production cannot be read.");
    expect(await screen.findByText(/Cannot read production\/buckets/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "Ingestion status" })).toBeTruthy();
    unmount();
    world.allowed = false;
    openPage();
    await screen.findByText(/cluster production cannot be read/);
    await screen.findByRole("note", { name: /Not available to guests/ });
    expect(screen.queryByText(/production\/buckets\./)).toBeNull();
    expect(screen.queryByRole("link", { name: "Ingestion status" })).toBeNull();
  });

  it("does not show the last state as the current one if the permission is lost", async () => {
    const root = { apiVersion: "a/v1", kind: "Bucket", name: "photos" };
    const reason = { path: [], object: root, message: "no subnet", source: "Synced", sentence: "no subnet" };
    const body = { cluster: "production", ready: false, reason, events: [], tree: { ref: root, state: "present", readiness: "not ready" }, read: "2026-01-02T03:04:05Z" };
    world.streamed = `event: status\ndata: ${JSON.stringify(body)}\n\n`;
    openPage();
    await screen.findByText("no subnet");
    // The stream has ended; the next one is refused, as is the status.
    world.streamed = undefined;
    world.status = { code: 403, body: { error: { name: "NotAllowedError", message: "You may not read it" } } };
    expect(await screen.findByText(/You may not read it/, undefined, { timeout: 5_000 })).toBeTruthy();
  });

  it("says that the cluster cannot be read", async () => {
    world.status = { code: 503, body: { error: { name: "ServiceUnavailableError", message: "Cluster production cannot be reached" } } };
    openPage();
    expect(await screen.findByText(/Cluster production cannot be reached/)).toBeTruthy();
    expect(screen.getByText("This data may be out of date")).toBeTruthy();
  });
});
