import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import type { Entity, Schemas } from "../../api/types";
import type { Usage, Versions } from "./queries";
import VersionsTab from "./VersionsTab";

type Change = Schemas["DefinitionChange"];

const change = (rule: string, severity: Change["severity"], field: string, message: string): Change => ({ rule, severity, version: "v2", field, path: "", file: "", line: 0, column: 0, message, hint: "", old: "", new: "" });

function template(version: string, purpose: string, properties: object = {}): Entity {
  const annotations = { "composer.io/xrd-name": "buckets.example.org", "composer.io/xrd-version": version, "portal.io/template-purpose": purpose };
  return { apiVersion: "a/v1", kind: "Template", metadata: { name: `bucket-${purpose}-${version}`, namespace: "default", annotations }, spec: { parameters: [{ properties }] } } as unknown as Entity;
}

const older = template("v1", "create", { size: { type: "string" }, fifo: { type: "boolean" } });
const newer = template("v2", "create", { size: { type: "string" }, ordering: { type: "string" } });
const update = template("v2", "update");

const resource: Usage["resources"][number] = { entity: "resource:shop/photos-1", cluster: "prod", kind: "Bucket", namespace: "shop", name: "photos", owner: "team", version: "v1", composed: false };

let family: Entity[];
let versions: Versions;
let usage: Usage;
let changes: Change[] | { status: number; message: string };
let usageStatus: number;
let allowed: string[];
let asked: string[];

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:default/ann", ownershipEntityRefs: [] } };

beforeEach(() => {
  family = [older, newer, update];
  versions = {
    definition: "buckets.example.org",
    preferred: "v2",
    versions: [
      { name: "v2", served: true, referenceable: true, deprecated: false },
      { name: "v1", served: true, referenceable: false, deprecated: true, warning: "Use v2." },
    ],
  };
  usage = {
    preferred: "v2",
    kind: resource.kind,
    versions: [
      { version: "v2", count: 3, clusters: ["dev"] },
      { version: "v1", count: 1002, clusters: ["dev", "prod"] },
    ],
    resources: [resource, { ...resource, entity: "resource:shop/part-1", name: "part", composed: true }],
    hidden: 1000,
    incomplete: [],
  };
  changes = [change("DIF024", "error", "spec.fifo", "field removed"), change("DIF040", "warning", "spec.size", "default changed"), change("DIF060", "info", "spec.ordering", "optional field added")];
  usageStatus = 200;
  allowed = ["catalog.ingestion.read", "scaffolder.task.create"];
  asked = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    const fail = (status: number, message: string) => answer({ error: { name: "Error", message } }, status);
    asked.push(url);
    if (url.startsWith("/api/auth/providers")) {
      return answer({ guest: true, oidc: false });
    }
    if (url.startsWith("/api/auth/guest/refresh")) {
      return answer({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    if (url.startsWith("/api/permission/authorize")) {
      const { items } = JSON.parse(String(init.body)) as { items: { permission: { name: string } }[] };
      return answer({ items: items.map((q, i) => ({ id: String(i), result: allowed.includes(q.permission.name) ? "ALLOW" : "DENY" })) });
    }
    if (url.startsWith("/api/catalog/entities/by-query")) {
      return answer({ items: family });
    }
    if (url.startsWith("/api/catalog/entities/by-name")) {
      return answer(family.find((e) => url.endsWith(`/${e.metadata.name}`)) ?? {}, 200);
    }
    if (url.endsWith("/resources")) {
      return usageStatus === 200 ? answer(usage) : fail(usageStatus, "Too many requests that read clusters are in progress; try again in a few seconds");
    }
    if (url.includes("?from=")) {
      return Array.isArray(changes) ? answer({ ...versions, changes }) : fail(changes.status, changes.message);
    }
    if (url.startsWith("/api/composer-ingestor/versions/")) {
      return answer(versions);
    }
    return fail(404, "none");
  });
});

function open(query = "", entity = newer) {
  return render(
    <Testbed path={`/${query}`}>
      <VersionsTab entity={entity} />
    </Testbed>,
  );
}

describe("changes between two versions", () => {
  it("shows the verdict of the server, breaking changes first and compatible ones on demand", async () => {
    open();
    expect(await screen.findByText("1 breaking change")).toBeTruthy();
    expect(screen.getByText("1 warning")).toBeTruthy();
    const items = within(screen.getByRole("list", { name: "Changes" })).getAllByRole("listitem");
    expect(items.map((i) => i.textContent)).toEqual(["Breaking DIF024 v2 spec.fifo field removed", "Warning DIF040 v2 spec.size default changed"]);
    expect(screen.queryByText("optional field added")).toBeNull();
    await userEvent.click(screen.getByText("1 compatible change"));
    expect(await screen.findByText("optional field added")).toBeTruthy();
    expect(asked).toContain("/api/composer-ingestor/versions/template/default/bucket-create-v2?from=v1&to=v2");
    expect(screen.getByRole("row", { name: /^fifo Removed/ })).toBeTruthy();
    expect(screen.getByText(/1 field added, 1 removed/)).toBeTruthy();
  });

  it("shows the table if the changes cannot be loaded, and retries", async () => {
    changes = { status: 500, message: "out of order" };
    open();
    expect(await screen.findByText("out of order")).toBeTruthy();
    expect(await screen.findByRole("row", { name: /^fifo Removed/ })).toBeTruthy();
    changes = [];
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await screen.findByText("No breaking changes")).toBeTruthy();
  });

  it("says that only ingested definitions have changes, and why a schema cannot be compared", async () => {
    changes = { status: 404, message: "none" };
    const { unmount } = open();
    expect(await screen.findByText("Breaking changes are shown only for definitions that the portal has ingested.")).toBeTruthy();
    unmount();
    changes = { status: 409, message: "Versions v1 and v2 of buckets.example.org cannot be compared: no schema" };
    open();
    expect((await screen.findByRole("alert")).textContent).toContain("cannot be compared: no schema");
    expect(screen.queryByText(/^Breaking changes are shown only/)).toBeNull();
  });

  it("does not ask for changes between the form and the schema of one version", async () => {
    family = [newer, { ...newer, kind: "API", metadata: { ...newer.metadata, name: "bucket-api" }, spec: { definition: "" } } as unknown as Entity];
    open("?left=api:default/bucket-api&right=template:default/bucket-create-v2");
    expect(await screen.findByText(/2 fields added/)).toBeTruthy();
    expect(asked.filter((url) => url.includes("from="))).toEqual([]);
  });
});

describe("resources by version", () => {
  it("counts them, and links those of other versions to the update form", async () => {
    open();
    const table = within(await screen.findByRole("region", { name: "Versions of the definition" }));
    const row = await table.findByRole("row", { name: /^v1 .*1,002/ });
    expect(row.textContent).toMatch(/Deprecated.*Use v2\..*dev, prod/);
    expect(table.getByRole("row", { name: /^v2 Preferred/ })).toBeTruthy();
    const move = within(await screen.findByRole("region", { name: "Resources to move to v2" }));
    expect(move.getByRole("link", { name: "photos" }).getAttribute("href")).toBe("/catalog/shop/resource/photos-1");
    expect((await move.findByRole("link", { name: "Update photos" })).getAttribute("href")).toBe("/create/default/bucket-update-v2?name=photos&namespace=shop&cluster=prod");
    expect(move.getByRole("row", { name: /^part/ }).textContent).toContain("Written by a Composition: change its apiVersion there");
    expect(move.queryByRole("link", { name: "Update part" })).toBeNull();
    expect(screen.getByText(/^1,000 more not shown: you may not read them/)).toBeTruthy();
  });

  it("lists versions that only resources have", async () => {
    usage.versions.push({ version: "v1alpha1", count: 1, clusters: ["dev"] }, { version: "", count: 2, clusters: ["dev"] });
    open();
    expect((await screen.findByRole("row", { name: /^v1alpha1/ })).textContent).toContain("Not in the definition");
    expect(screen.getByRole("row", { name: /^unknown/ })).toBeTruthy();
  });

  it("says that there is no update template, and disables updates without the permission", async () => {
    family = [older, newer];
    const { unmount } = open();
    expect(await screen.findByText(/^There is no update template for v2\./)).toBeTruthy();
    expect(screen.queryByText("Update")).toBeNull();
    unmount();
    family = [older, newer, update];
    allowed = ["catalog.ingestion.read"];
    open();
    expect(((await screen.findByRole("button", { name: "Update photos" })) as HTMLButtonElement).disabled).toBe(true);
  });

  it("says that nothing is to be moved, as far as could be read", async () => {
    Object.assign(usage, { resources: [], hidden: 0 });
    const { unmount } = open();
    expect(await screen.findByText("All resources are written in v2.")).toBeTruthy();
    unmount();
    usage.incomplete = ["cluster prod cannot be read; see the health of its source"];
    open();
    expect(await screen.findByText("All resources that could be read are written in v2.")).toBeTruthy();
    expect(screen.getByText(/^cluster prod cannot be read/)).toBeTruthy();
  });

  it("retries when the server is busy", async () => {
    usageStatus = 503;
    open();
    expect(await screen.findByText(/^Too many requests that read clusters/)).toBeTruthy();
    usageStatus = 200;
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await screen.findByRole("link", { name: "photos" })).toBeTruthy();
  });

  it("shows the versions without counts to callers without the permission", async () => {
    allowed = [];
    open();
    expect(await screen.findByText("Resource counts require the permission catalog.ingestion.read.")).toBeTruthy();
    expect(screen.getByText("Use v2.")).toBeTruthy();
    expect(asked.filter((url) => url.endsWith("/resources"))).toEqual([]);
    expect(screen.queryByRole("columnheader", { name: "Clusters" })).toBeNull();
  });

  it("is not shown for a single version", async () => {
    versions.versions.length = 1;
    open();
    await screen.findByText(/1 field added/);
    expect(screen.queryByRole("region", { name: "Resources by version" })).toBeNull();
  });
});
