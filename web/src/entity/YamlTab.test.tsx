import { configure, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useLocation } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import type { Entity } from "../api/types";
import { packedIn, unpack } from "../playground/link";
import { asWritten } from "./source";
import YamlTab from "./YamlTab";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

function entity(kind: string, type: string, annotations: Record<string, string> = {}): Entity {
  return { apiVersion: "portal.io/v1alpha1", kind, metadata: { name: "it", namespace: "default", annotations }, spec: { type } } as unknown as Entity;
}

const of = { "composer.io/xrd-name": "buckets.example.org" };
const definition = entity("Resource", "composer-xrd", of);
const composition = entity("Resource", "crossplane-composition", of);
const running = entity("Resource", "composer-xr", { "portal.io/discovered-from": "production", "composer.vendor.io/xr-name": "photos" });

const xrd = {
  apiVersion: "apiextensions.crossplane.io/v2",
  kind: "CompositeResourceDefinition",
  metadata: { name: "buckets.example.org", generation: 3, labels: { a: "<b>" } },
  spec: { group: "example.org" },
  status: { conditions: [] },
};

type Answer = { status?: number; body: unknown };
let answers: Record<string, Answer>;
const failed = (status: number, message: string): Answer => ({ status, body: { error: { name: "E", message } } });

beforeEach(() => {
  sessionStorage.clear();
  answers = { "/api/composer-ingestor/source/Resource/default/it": { body: { source: "composerIngestor/production", object: xrd } } };
  vi.stubGlobal("fetch", async (url: string) => {
    const found = Object.entries(answers).find(([prefix]) => url.startsWith(prefix))?.[1] ?? failed(404, "none");
    return new Response(JSON.stringify(found.body), { status: found.status ?? 200 });
  });
});

function Address() {
  const { pathname, search, hash } = useLocation();
  return <output>{pathname + search + hash}</output>;
}

function open(of: Entity, query = "?tab=yaml") {
  return render(
    <Testbed path={`/catalog/default/resource/it${query}`}>
      <YamlTab entity={of} />
      <Address />
    </Testbed>,
  );
}

// opened returns the address that the playground was opened with.
async function opened(): Promise<{ address: string; text: string | undefined }> {
  await userEvent.click(await screen.findByRole("button", { name: "Open in playground" }));
  const output = await screen.findByText(/^\/playground/);
  const address = output.textContent;
  const packed = packedIn(address.slice(Math.max(0, address.indexOf("#"))));
  return { address, text: packed === undefined ? undefined : await unpack(packed) };
}

describe("YamlTab", () => {
  it.each<[string, Entity, string[], string]>([
    ["a definition", definition, ["Source", "Catalog entity"], "Source"],
    ["a composition", composition, ["Source", "Catalog entity"], "Source"],
    ["a Template of a definition", entity("Template", "composer-xrd", of), ["Source", "Catalog entity"], "Catalog entity"],
    ["an API of a definition", entity("API", "openapi", of), ["Source", "Catalog entity"], "Catalog entity"],
    ["a running resource", running, ["Live object", "Catalog entity"], "Catalog entity"],
    ["a resource from a folder", entity("Resource", "composer-xr"), [], ""],
    ["another entity", entity("Component", "service"), [], ""],
  ])("offers the views of %s", async (_, of, labels, chosen) => {
    open(of);
    expect(screen.queryAllByRole("radio").map((r) => (r as HTMLInputElement).labels![0]!.textContent)).toEqual(labels);
    expect(screen.queryAllByRole<HTMLInputElement>("radio").find((r) => r.checked)?.labels![0]!.textContent ?? "").toBe(chosen);
  });

  it("shows the source as text, and keeps the view in the URL", async () => {
    const { container } = open(definition);
    expect((await screen.findByRole("region", { name: "Source of it" })).textContent).toContain("a: <b>");
    expect(container.querySelector("b")).toBeNull();
    await userEvent.click(screen.getByRole("radio", { name: "Catalog entity" }));
    expect(screen.getByRole("region", { name: "YAML of it" }).textContent).toContain("kind: Resource");
    expect(screen.getByRole("status").textContent).toMatch(/tab=yaml&view=entity$/);
  });

  it("opens a definition in the playground as it was written", async () => {
    open(definition);
    const { address, text } = await opened();
    expect(address).toMatch(/^\/playground#xrd=/);
    expect(text).toContain("name: buckets.example.org");
    expect(text).not.toMatch(/generation|status/);
  });

  it("opens a definition with the profile of its ingestor", async () => {
    answers["/api/composer-ingestor/source/"] = { body: { source: "clusterIngestor/production", object: xrd } };
    delete answers["/api/composer-ingestor/source/Resource/default/it"];
    open(definition);
    expect((await opened()).address).toMatch(/^\/playground\?profile=clusterIngestor#xrd=/);
  });

  it("opens a composition together with its definition", async () => {
    answers["/api/composer-ingestor/source/Resource/default/it"] = { body: { source: "composerIngestor/production", object: { kind: "Composition", metadata: { name: "fast" } } } };
    answers["/api/composer-ingestor/source/Resource/default/buckets-xrd"] = { body: { source: "composerIngestor/production", object: xrd } };
    answers["/api/catalog/entities/by-query"] = { body: { items: [{ kind: "Resource", metadata: { name: "buckets-xrd" }, spec: { type: "composer-xrd" } }] } };
    open(composition);
    const { text } = await opened();
    expect(text).toMatch(/^apiVersion[^]*kind: CompositeResourceDefinition[^]*\n---\nkind: Composition\n/);
  });

  it("says that a composition lacks its definition", async () => {
    answers["/api/catalog/entities/by-query"] = { body: { items: [] } };
    open(composition);
    await userEvent.click(await screen.findByRole("button", { name: "Open in playground" }));
    expect(await screen.findByText(/XRD of this Composition is not in the catalog/)).toBeTruthy();
  });

  it("hands over a source that is too long for a link", async () => {
    const noise = Array.from({ length: 30_000 }, (_, i) => ((i * 2654435761) % 4294967296).toString(36));
    answers["/api/composer-ingestor/source/Resource/default/it"] = { body: { source: "composerIngestor/production", object: { ...xrd, spec: { noise } } } };
    open(definition);
    expect(await opened()).toEqual({ address: "/playground", text: undefined });
    expect(sessionStorage.getItem("portal-playground")).toContain(noise.at(-1));
  });

  it("refuses a source that is too long for the playground", async () => {
    answers["/api/composer-ingestor/source/Resource/default/it"] = { body: { source: "composerIngestor/production", object: { ...xrd, spec: { text: "a".repeat(1 << 20) } } } };
    open(definition);
    await userEvent.click(await screen.findByRole("button", { name: "Open in playground" }));
    expect(await screen.findByText(/larger than 1 MiB, the limit of the playground/)).toBeTruthy();
  });

  it("says that there is no source", async () => {
    answers = {};
    open(definition);
    expect(await screen.findByText("No source")).toBeTruthy();
    await userEvent.click(screen.getByRole("radio", { name: "Catalog entity" }));
    expect(screen.getByRole("region", { name: "YAML of it" })).toBeTruthy();
  });

  it("hides managed fields of the live object until they are wanted", async () => {
    answers["/api/resources/by-name/Resource/default/it/object"] = {
      body: { cluster: "production", object: { kind: "Bucket", metadata: { name: "photos", managedFields: [{ manager: "kubectl" }] }, spec: { size: 3 } } },
    };
    open(running, "?tab=yaml&view=live");
    const text = await screen.findByRole("region", { name: "YAML of the object photos" });
    expect(text.textContent).toContain("size: 3");
    expect(text.textContent).not.toContain("managedFields");
    await userEvent.click(screen.getByRole("switch", { name: "Show managed fields" }));
    expect(text.textContent).toContain("manager: kubectl");
  });

  it.each([
    [403, "Add this rule to the role"],
    [404, "The object does not exist"],
    [503, "Cluster production cannot be reached"],
  ])("shows the message of a %i, and the catalog entity", async (status, message) => {
    answers["/api/resources/by-name/Resource/default/it/object"] = failed(status, message);
    open(running, "?tab=yaml&view=live");
    expect(await screen.findByText(message)).toBeTruthy();
    await userEvent.click(screen.getByRole("radio", { name: "Catalog entity" }));
    expect(screen.getByRole("region", { name: "YAML of it" })).toBeTruthy();
  });
});

describe("asWritten", () => {
  it.each<[string, object, object]>([
    ["what a cluster adds", { kind: "X", metadata: { name: "x", uid: "1", creationTimestamp: "2026-01-02T03:04:05Z" }, status: {} }, { kind: "X", metadata: { name: "x" } }],
    ["nothing of strange metadata", { metadata: "x" }, { metadata: "x" }],
    ["nothing else", { metadata: { annotations: { uid: "1" } }, spec: { status: 1 } }, { metadata: { annotations: { uid: "1" } }, spec: { status: 1 } }],
  ])("removes %s", (_, object, want) => {
    expect(asWritten({ ...object })).toEqual(want);
  });
});
