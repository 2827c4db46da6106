import { configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import type { IngestionHealth, Run } from "../api/types";
import IngestionPage from "./IngestionPage";
import { joinNames, targetsOf } from "./target";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

const counts = { discovered: 2, selected: 2, changed: 0, units: 0, failed: 0, added: 0, updated: 0, removed: 0, unchanged: 3, refused: 0 };
const runs: Run[] = [
  { ...counts, id: "2", source: "composerIngestor/one", trigger: "schedule", started: "2026-01-05T10:01:00Z", milliseconds: 12, phases: { read: 10 } },
  { ...counts, id: "1", source: "composerIngestor/one", trigger: "manual", started: "2026-01-05T10:00:00Z", milliseconds: 40, added: 7, phases: { read: 10, write: 20 } },
];

function health(state: "connected" | "unreachable", detailed = true): IngestionHealth {
  const out: IngestionHealth = { status: state === "connected" ? "healthy" : "unhealthy", clusters: { one: state }, entitiesGenerated: 9 };
  if (detailed) {
    out.sources = [{ name: "composerIngestor/one", cluster: "one", state, lastSuccess: "2026-01-05T10:00:00Z", lastError: state === "connected" ? undefined : "cannot find definitions: no answer" }];
  }
  return out;
}

let now: IngestionHealth | undefined;
let allowed: boolean;
let started: unknown[];
// asked are the URLs of requests for findings.
let asked: string[];

beforeEach(() => {
  now = health("connected");
  allowed = true;
  started = [];
  asked = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });
    if (url.endsWith("/refresh")) {
      const identity = { type: "user", userEntityRef: "user:default/ann", ownershipEntityRefs: [] };
      return json({ portalIdentity: { token: "t", expiresInSeconds: 3600, identity }, backstageIdentity: { token: "t", expiresInSeconds: 3600, identity }, profile: {}, providerInfo: {} });
    }
    if (url.includes("/authorize")) {
      const { items } = JSON.parse(String(init.body)) as { items: { id: string }[] };
      return json({ items: items.map(({ id }) => ({ id, result: allowed ? "ALLOW" : "DENY" })) });
    }
    if (url.includes("/providers")) {
      return json({ guest: true, oidc: false, items: ["guest"] });
    }
    if (url.endsWith("/health")) {
      if (!now) {
        throw new TypeError("refused");
      }
      return json(now);
    }
    if (url.endsWith("/removals/confirm")) {
      started.push(JSON.parse(String(init.body)));
      return json(now?.sources?.[0]?.pendingRemoval, 202);
    }
    if (url.endsWith("/runs/1")) {
      return json({ ...runs[1], changes: { added: ["template:default/x.example.org"], updated: [], removed: ["api:default/gone"], failed: [], refused: [] } });
    }
    if (url.includes("/runs")) {
      if (init.method === "POST") {
        started.push(JSON.parse(String(init.body)));
        return json({ sources: ["composerIngestor/one"] }, 202);
      }
      return json({ items: runs });
    }
    if (url.includes("/findings")) {
      asked.push(url);
      const rules = [{ rule: "XRD075", title: "a default is not of its type", why: "The default cannot be used.", severity: "error", findings: 60, definitions: 1 }];
      const query = new URL(url, "http://portal").searchParams;
      const [limit, offset] = [Number(query.get("limit")), Number(query.get("offset"))];
      const items = Array.from({ length: Math.max(0, Math.min(limit, 60 - offset)) }, (_, i) => ({
        rule: "XRD075", severity: "error", message: `field ${offset + i} is not a number`, definition: "x.example.org", entity: "resource:default/x.example.org-xrd", sources: ["composerIngestor/one"], clusters: ["one"],
      }));
      return json({ items, totalItems: 60, rules, pending: 0 });
    }
    if (url.includes("/explain/")) {
      return json({ name: "x.example.org", copies: [], compositions: 0, composites: 0, entities: [], values: [], findings: [{ rule: "XRD069", severity: "error", message: "not a type" }] });
    }
    return json({}, 404);
  });
});

afterEach(() => vi.useRealTimers());

function open(path = "/ingestion") {
  return render(
    <Testbed path={path}>
      <IngestionPage />
    </Testbed>,
  );
}

it("shows an outage and the recovery within seconds", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  open();
  await screen.findByText(/The cluster is connected/);
  now = health("unreachable");
  await vi.advanceTimersByTimeAsync(4_000);
  await screen.findByText("Cannot read one");
  expect(screen.getByText("cannot find definitions: no answer")).toBeTruthy();
  expect(screen.getByText("Unreachable: no answer.")).toBeTruthy();
  now = health("connected");
  await vi.advanceTimersByTimeAsync(4_000);
  await screen.findByText("one is connected again.");
  expect(screen.queryByText("Cannot read one")).toBeNull();
});

it("links the numbers of a cluster to what they count", async () => {
  now!.sources![0]!.objects = { "definitions a": 2, "composites b": 1, "compositions c": 3 };
  open();
  const link = async (name: string) => (await screen.findByRole("link", { name })).getAttribute("href");
  expect(await link("2 definitions")).toBe("/ingestion?tab=definitions&cluster=one");
  expect(await link("1 composite")).toBe("/catalog?cluster=one&status=ready&status=not+ready&status=unknown");
  expect(await link("60 findings")).toBe("/ingestion?tab=findings&cluster=one");
  expect(screen.getAllByRole("columnheader").map((h) => h.textContent)).toEqual(["Name", "State", "Last synced", "Definitions", "Compositions", "Resources", "Findings", "Actions"]);
});

it("keeps the last data while the portal is unreachable", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  open();
  await screen.findByText(/The cluster is connected/);
  now = undefined;
  await vi.advanceTimersByTimeAsync(4_000);
  await screen.findByText("No connection to the portal");
  expect(screen.getByText(/The cluster is connected/)).toBeTruthy();
});

it("requests scans of all sources or one", async () => {
  open();
  const all = await screen.findByRole("button", { name: "Run all now" });
  await waitFor(() => expect(all).toHaveProperty("disabled", false));
  await userEvent.click(all);
  await screen.findByText(/Run requested for one\./);
  await userEvent.click(await screen.findByRole("button", { name: "Run one now" }));
  await waitFor(() => expect(started).toEqual([{}, { source: "composerIngestor/one" }]));
});

it("disables actions without permission and explains why", async () => {
  allowed = false;
  now = health("connected", false);
  open();
  await screen.findByText(/Errors, definitions, runs and findings are hidden\. Not available to guests/);
  expect(await screen.findByRole("button", { name: "Run all now" })).toHaveProperty("disabled", true);
  expect((await screen.findAllByLabelText(/Not available to guests|Missing permission/)).length).toBeGreaterThan(0);
  fireEvent.click(screen.getByRole("tab", { name: "Definitions" }));
  await screen.findByText("Permission required");
  expect(screen.getAllByText(/Not available to guests/)).toBeTruthy();
});

it("shows the latest changes and the runs as a table", async () => {
  open("/ingestion?tab=runs&runs=table");
  const rows = await screen.findAllByRole("row");
  expect(rows).toHaveLength(3);
  expect(screen.getByTestId("run").textContent).toContain("7 added");
  expect(screen.getByText("1 run since then without changes.")).toBeTruthy();
  expect((await screen.findByRole("link", { name: "x.example.org" })).getAttribute("href")).toBe("/catalog/default/template/x.example.org");
  expect(screen.queryByRole("link", { name: "gone" })).toBeNull();
  expect(screen.getByText("6 more not recorded.")).toBeTruthy();
  fireEvent.click(rows[1]!.querySelector("button")!);
  await waitFor(() => expect(screen.getByTestId("run").textContent).toContain("3 unchanged"));
  fireEvent.click(screen.getByRole("button", { name: "Show latest changes" }));
  await waitFor(() => expect(screen.getByTestId("run").textContent).toContain("7 added"));
});

it("lists findings by rule and page, with links to entity and explanation", async () => {
  open("/ingestion?tab=findings");
  fireEvent.click(await screen.findByText("A default is not of its type"));
  await screen.findByText(/Field 49 /);
  // Searching hundreds of links by role takes seconds.
  expect(screen.getAllByText("x.example.org").at(-1)?.getAttribute("href")).toBe("/catalog/default/resource/x.example.org-xrd");
  expect(screen.queryByText(/Field 55 /)).toBeNull();
  fireEvent.click(screen.getByText("Show more"));
  await screen.findByText(/Field 55 /);
  fireEvent.click(screen.getAllByLabelText("Explain x.example.org")[0]!);
  await screen.findByText("No ingestor generates entities from this definition.", { exact: false });
});

it("shows the findings of one definition", async () => {
  open("/ingestion?tab=findings&definition=x.example.org");
  expect(await screen.findByText("Only x.example.org")).toBeTruthy();
  expect(asked.at(-1)).toContain("definition=x.example.org");
  fireEvent.click(screen.getByText("Show all definitions"));
  await waitFor(() => expect(asked.at(-1)).not.toContain("definition="));
});

it("teaches operators how to add the first source", async () => {
  now!.sources = [];
  now!.clusters = {};
  open();
  expect(await screen.findByText("Connect your first cluster")).toBeTruthy();
  expect(screen.getByText(/kubeconfig: \.\/kubeconfig/)).toBeTruthy();
});

it("shows no configuration to others", async () => {
  allowed = false;
  now = { ...health("connected", false), clusters: {} };
  open();
  expect(await screen.findByText(/Ask your administrator to add clusters/)).toBeTruthy();
  expect(screen.queryByText(/kubeconfig/)).toBeNull();
});

it("groups the sources of a cluster and shows the worst state", () => {
  const targets = targetsOf([
    { name: "composerIngestor/sources/folder", state: "connected" },
    { name: "composerIngestor/two", cluster: "two", state: "connected", lastSuccess: "2026-01-05T10:00:00Z", objects: { "definitions a": 2, "definitions b": 1 } },
    { name: "clusterIngestor/two", cluster: "two", state: "unreachable", lastSuccess: "2026-01-05T09:00:00Z", objects: { "definitions a": 3 }, stale: { "definitions a": "2026-01-05T09:00:00Z" } },
    { name: "composerIngestor/one", cluster: "one", state: "waiting" },
  ]);
  expect(targets.map((p) => [p.name, p.state, p.lastSuccess])).toEqual([
    ["two", "unreachable", "2026-01-05T09:00:00Z"],
    ["one", "waiting", undefined],
    ["folder", "connected", undefined],
  ]);
  expect(targets[0]).toMatchObject({ counts: [["definitions", 3]], stale: ["definitions"], staleSince: "2026-01-05T09:00:00Z" });
  expect([joinNames([]), joinNames(["a"]), joinNames(["a", "b", "c"])]).toEqual(["", "a", "a, b and c"]);
});

it("shows unselected definitions with a command, and unreadable files", async () => {
  const source = now!.sources![0]!;
  source.definitions = { found: 76, selected: 0, message: "76 definitions found, 0 selected: none has the label openportal.dev/ingest=true", hint: "kubectl label xrd a openportal.dev/ingest=true" };
  source.problems = [{ list: "files", rule: "XRD001", severity: "error", message: "cannot read the document", file: "a.yaml", line: 3 }];
  source.problemCount = 1;
  now!.missing = [{ ref: "group:default/unknown", relation: "ownedBy", entities: 2, example: "api:default/a" }];
  open();
  expect(await screen.findByText(/76 definitions found, 0 selected/)).toBeTruthy();
  expect(screen.getByText("kubectl label xrd a openportal.dev/ingest=true")).toBeTruthy();
  expect(screen.getByText("a.yaml:3")).toBeTruthy();
  expect(screen.getByText("group:default/unknown")).toBeTruthy();
});

it("shows definitions that a cluster does not serve, with reasons", async () => {
  now!.unserved = [
    { cluster: "prod", definition: "xs.example.org", condition: "Established", status: "False", reason: "Broken", message: "the CRD is refused" },
    { cluster: "prod", definition: "ys.example.org", condition: "Offered", status: "Unknown" },
  ];
  now!.unservedCount = 5;
  open();
  const notice = (await screen.findByText("Definitions not served by their cluster")).closest("[role]")!;
  expect(notice.textContent).toContain("prod: xs.example.org: Established is False: Broken: the CRD is refused");
  expect(notice.textContent).toContain("prod: ys.example.org: Offered is Unknown");
  expect(notice.textContent).toContain("and 3 more");
});

it("confirms a mass removal with two clicks", async () => {
  const pendingRemoval = { objects: 36, of: 36, since: "2026-01-05T10:00:00Z", until: "2026-01-05T10:05:00Z" };
  now = health("connected");
  now.status = "degraded";
  now.sources = [{ ...now.sources![0]!, state: "removal-pending", lastError: "36 of 36 objects missing", pendingRemoval }];
  open();
  expect(await screen.findByText("36 of 36 objects missing")).toBeTruthy();
  expect(screen.queryByText("Cannot read one")).toBeNull();
  expect(screen.getByText(/but a removal needs confirmation/)).toBeTruthy();
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Confirm removal" }));
  expect(started).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Remove the entities of 36 objects" }));
  expect(await screen.findByText(/Confirmed\./)).toBeTruthy();
  expect(started).toEqual([{ source: "composerIngestor/one", since: "2026-01-05T10:00:00Z" }]);
});
