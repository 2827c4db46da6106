import { configure, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import type { IngestionHealth, Run } from "../api/types";
import { each, group, type Found } from "./findings";
import IngestionPage from "./IngestionPage";

// Other things run on the machine at the same time.
configure({ asyncUtilTimeout: 10_000 });

const counts = { discovered: 2, changed: 0, units: 0, failed: 0, added: 0, updated: 0, removed: 0, unchanged: 3, refused: 0 };
const runs: Run[] = [
  { ...counts, source: "composerIngestor/one", trigger: "schedule", started: "2026-01-05T10:01:00Z", milliseconds: 12, phases: { read: 10 } },
  { ...counts, source: "composerIngestor/one", trigger: "manual", started: "2026-01-05T10:00:00Z", milliseconds: 40, added: 7, phases: { read: 10, write: 20 } },
];

function health(state: "connected" | "unreachable", detailed = true): IngestionHealth {
  const out: IngestionHealth = { status: state === "connected" ? "healthy" : "unhealthy", clusters: { one: state }, entitiesGenerated: 9 };
  if (detailed) {
    out.sources = [{ name: "composerIngestor/one", cluster: "one", state, lastSuccess: "2026-01-05T10:00:00Z", lastError: state === "connected" ? undefined : "no answer" }];
  }
  return out;
}

let now: IngestionHealth | undefined;
let allowed: boolean;
let started: unknown[];

beforeEach(() => {
  now = health("connected");
  allowed = true;
  started = [];
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
    if (url.includes("/runs")) {
      if (init.method === "POST") {
        started.push(JSON.parse(String(init.body)));
        return json({ sources: ["composerIngestor/one"] }, 202);
      }
      return json({ items: runs });
    }
    if (url.includes("/entity-facets")) {
      return json({ facets: { a: [{ value: "x.example.org" }] } });
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

it("shows an outage within seconds, and that it is over", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  open();
  await screen.findByText(/Everything can be read/);
  now = health("unreachable");
  await vi.advanceTimersByTimeAsync(4_000);
  await screen.findByText("one cannot be read");
  expect(screen.getByText("no answer")).toBeTruthy();
  now = health("connected");
  await vi.advanceTimersByTimeAsync(4_000);
  await screen.findByText("one is back.");
  expect(screen.queryByText("one cannot be read")).toBeNull();
});

it("keeps what it knows while the portal does not answer", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  open();
  await screen.findByText(/Everything can be read/);
  now = undefined;
  await vi.advanceTimersByTimeAsync(4_000);
  await screen.findByText("The portal does not answer");
  expect(screen.getByText(/Everything can be read/)).toBeTruthy();
});

it("has sources scanned now, all or one", async () => {
  open();
  const all = await screen.findByRole("button", { name: "Run all now" });
  await vi.waitFor(() => expect(all).toHaveProperty("disabled", false));
  await userEvent.click(all);
  await screen.findByText(/Asked for: one\./);
  await userEvent.click(await screen.findByRole("button", { name: "Run composerIngestor/one now" }));
  await vi.waitFor(() => expect(started).toEqual([{}, { source: "composerIngestor/one" }]));
});

it("offers nothing that one may not do, and says why", async () => {
  allowed = false;
  now = health("connected", false);
  open();
  await screen.findByText(/catalog\.ingestion\.read/);
  expect(await screen.findByRole("button", { name: "Run all now" })).toHaveProperty("disabled", true);
  expect((await screen.findAllByLabelText(/Guests may only look|You lack the permission/)).length).toBeGreaterThan(0);
  expect(screen.queryByText("Runs")).toBeNull();
});

it("shows runs as a table too, and one of them in detail", async () => {
  open("/ingestion?runs=table");
  const rows = await screen.findAllByRole("row");
  expect(rows).toHaveLength(3);
  expect(screen.getByTestId("run").textContent).toContain("3 unchanged");
  fireEvent.click(screen.getByRole("button", { name: "Show it" }));
  await vi.waitFor(() => expect(screen.getByTestId("run").textContent).toContain("7 added"));
});

it("lists findings by rule, and leads to the definition", async () => {
  open();
  await userEvent.click(await screen.findByText("XRD069"));
  await userEvent.click(await screen.findByRole("link", { name: "x.example.org", hidden: true }));
  await screen.findByText("Nobody makes entities of it.", { exact: false });
});

it("groups the worst first", () => {
  const found = (rule: string, severity: "error" | "warning" | "info"): Found => ({ definition: "d", finding: { rule, severity, message: "" } });
  const got = group([found("A", "info"), found("B", "warning"), found("C", "error"), found("B", "warning"), found("D", "warning")]);
  expect(got.map((r) => [r.rule, r.found.length])).toEqual([
    ["C", 1],
    ["B", 2],
    ["D", 1],
    ["A", 1],
  ]);
});

it("leaves out what cannot be asked, and keeps the order of the rest", async () => {
  const got = await each(["a", "b", "c", "d", "e"], async (name) => {
    if (name === "b") {
      throw new Error("gone");
    }
    return name.toUpperCase();
  });
  expect(got).toEqual(["A", "C", "D", "E"]);
});
