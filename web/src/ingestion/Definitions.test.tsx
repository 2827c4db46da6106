import { configure, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { useLocation } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import type { NamedDefinitions } from "../api/types";
import { packedIn, unpack } from "../playground/link";
import { Definitions } from "./Definitions";
import { placesOf, yamlOf } from "./definition";
import type { Named } from "./queries";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

const label = { field: "labels", key: "openportal.dev/ingest", value: "true" } as const;
const command = "kubectl label compositeresourcedefinitions.apiextensions.crossplane.io bs.example.org openportal.dev/ingest=true --context prod";
const why = 'label openportal.dev/ingest: "true" is missing';

const taken: Named = {
  name: "as.example.org",
  selected: true,
  copies: [
    { source: "clusterIngestor/dev", cluster: "dev", selected: false, state: "found", why },
    { source: "composerIngestor/dev", cluster: "dev", selected: true, state: "served" },
    { source: "composerIngestor/prod", cluster: "prod", selected: true, state: "unserved", message: "Established is False: Broken" },
    { source: "composerIngestor/old", cluster: "old", selected: true, state: "unreadable", since: "2026-01-05T10:00:00Z" },
    { source: "composerIngestor/sources/repo", file: "xrds/as.yaml", selected: false, state: "found", why, remedy: { change: label } },
  ],
  findings: { error: 1, info: 2 },
};
const left: Named = { name: "bs.example.org", selected: false, copies: [{ source: "composerIngestor/prod", cluster: "prod", selected: false, state: "found", why, remedy: { change: label, command } }] };

let asked: URLSearchParams[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const json = (value: unknown) => new Response(JSON.stringify(value));
    if (url.includes("/definitions/by-name")) {
      const query = new URL(url, "http://portal").searchParams;
      asked.push(query);
      const only = query.get("only");
      const items = [taken, left].filter((d) => (only === "unselected" ? !d.selected : only === null)).filter((d) => d.name.includes(query.get("text") ?? ""));
      const answer: NamedDefinitions = { items, totalItems: items.length, counts: { all: 2, selected: 1, unselected: 1, findings: 1 } };
      return json(answer);
    }
    if (url.includes("/by-query")) {
      expect(String(init.body)).toContain("as.example.org");
      const metadata = { name: "as.example.org", namespace: "default" };
      return json({ items: [{ kind: "Template", metadata: { ...metadata, name: "as-update", annotations: { "portal.io/template-purpose": "update" } } }, { kind: "Template", metadata }, { kind: "Resource", metadata }], totalItems: 3, pageInfo: {} });
    }
    if (url.includes("/source/")) {
      return json({ source: "composerIngestor/dev", object: { kind: "CompositeResourceDefinition", metadata: { name: "as.example.org", uid: "1" } } });
    }
    return new Response("{}", { status: 404 });
  });
});

function Where() {
  const { pathname, search, hash } = useLocation();
  return <output>{pathname + search + hash}</output>;
}

function open(path = "/ingestion?tab=definitions") {
  return render(
    <Testbed path={path}>
      <Definitions clusters={["dev", "prod"]} />
      <Where />
    </Testbed>,
  );
}

const row = (name: string) => screen.findByRole("listitem", { name });

it("shows one row per definition, with its state in each cluster and its findings", async () => {
  open();
  const first = await row("as.example.org");
  for (const text of ["Selected", "dev: served", "prod: not served", "old: unreadable", "repo: not selected", "1 error", "2 info"]) {
    expect(within(first).getByText(text)).toBeTruthy();
  }
  expect(within(first).getByRole("link", { name: "Findings of as.example.org: 1 error, 2 info" }).getAttribute("href")).toBe("/ingestion?tab=findings&definition=as.example.org");
  const second = await row("bs.example.org");
  expect(within(second).getByText("Not selected")).toBeTruthy();
  expect(within(second).getByText("Label openportal.dev/ingest=true is missing")).toBeTruthy();
  expect(screen.getByText("2 of 2 definitions")).toBeTruthy();
});

it("shows the command that selects a definition, and the lines to add to a file", async () => {
  open();
  fireEvent.click(within(await row("bs.example.org")).getByRole("button", { name: "bs.example.org" }));
  expect(await screen.findByText(command)).toBeTruthy();
  expect(screen.getByText("Not selected by the Crossplane ingestor: label openportal.dev/ingest=true is missing.")).toBeTruthy();
  expect(screen.getByText("kubectl get compositeresourcedefinition bs.example.org -o yaml")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Open playground" }).getAttribute("href")).toBe("/playground");
  fireEvent.click(within(await row("as.example.org")).getByRole("button", { name: "as.example.org" }));
  expect(await screen.findByText("To select it, add to xrds/as.yaml:")).toBeTruthy();
  expect(screen.getByText(/^metadata:\s+labels:\s+openportal\.dev\/ingest: "true"$/)).toBeTruthy();
  expect(screen.getByText("Established is False: Broken")).toBeTruthy();
});

it("links a selected definition to its form and entity, and opens it in the playground", async () => {
  open("/ingestion?tab=definitions&open=as.example.org");
  expect((await screen.findByRole("link", { name: "Open form" })).getAttribute("href")).toBe("/create/default/as.example.org");
  expect(screen.getByRole("link", { name: "Open definition" }).getAttribute("href")).toBe("/catalog/default/resource/as.example.org");
  expect(screen.getByRole("link", { name: "Explain as.example.org" }).getAttribute("href")).toContain("explain=as.example.org");
  fireEvent.click(screen.getByRole("button", { name: "Open in playground" }));
  const at = await screen.findByText(/^\/playground#xrd=/);
  expect(await unpack(packedIn(new URL(at.textContent, "http://portal").hash) ?? "")).toBe("kind: CompositeResourceDefinition\nmetadata:\n  name: as.example.org\n");
});

it("filters by selection and name, and keeps the filters in the URL", async () => {
  open();
  await row("as.example.org");
  fireEvent.click(screen.getByText("Not selected 1"));
  await waitFor(() => expect(screen.queryByRole("listitem", { name: "as.example.org" })).toBeNull());
  expect(screen.getByText("/ingestion?tab=definitions&only=unselected")).toBeTruthy();
  fireEvent.change(screen.getByRole("searchbox", { name: "Search definitions" }), { target: { value: "nothing" } });
  await screen.findByText("No results");
  expect(asked.at(-1)?.get("text")).toBe("nothing");
  fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
  await row("as.example.org");
  expect(screen.getByRole("searchbox", { name: "Search definitions" })).toHaveProperty("value", "");
});

it("groups copies by place, the worst first, and writes changes as YAML", () => {
  expect(placesOf(taken).map((p) => [p.name, p.state, p.selected, p.copies.length])).toEqual([
    ["old", "unreadable", true, 1],
    ["prod", "unserved", true, 1],
    ["dev", "served", true, 1],
    ["repo", "found", false, 1],
  ]);
  expect(yamlOf({ field: "annotations", key: "a/b", value: "yes: no" })).toBe('metadata:\n  annotations:\n    a/b: "yes: no"');
});
