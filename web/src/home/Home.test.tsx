import { render, screen, within } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import HomePage from "./HomePage";

const orders = { kind: "Resource", metadata: { name: "orders", description: "Orders of the shop" }, spec: { type: "database", owner: "group:default/shop-team", readiness: "not ready" } };

let resources: unknown[];
let total: number;

beforeEach(() => {
  resources = [];
  total = 0;
  const identity = { type: "user", userEntityRef: "user:default/ann", ownershipEntityRefs: ["user:default/ann"] };
  const answers: [string, (body: { query?: unknown; entityRefs?: string[]; items?: { id: string }[] }) => unknown][] = [
    ["/refresh", () => ({ portalIdentity: { token: "t", expiresInSeconds: 3600, identity }, backstageIdentity: { token: "t", expiresInSeconds: 3600, identity }, profile: {}, providerInfo: {} })],
    ["/authorize", ({ items = [] }) => ({ items: items.map(({ id }) => ({ id, result: "ALLOW" })) })],
    ["/auth/providers", () => ({ guest: false, oidc: true })],
    ["/health", () => ({ status: "unhealthy", entitiesGenerated: 0, clusters: { prod: "spoilt" }, sources: [{ name: "composerIngestor/prod", cluster: "prod", state: "spoilt" }] })],
    ["/recent", () => ({ items: [{ entityRef: "resource:default/orders", kind: "Resource", type: "database", tags: [], title: "orders", change: "created", at: "2026-01-05T10:00:00Z", readiness: "ready" }] })],
    ["/by-refs", ({ entityRefs = [] }) => ({ items: entityRefs.map((ref) => (ref === "group:default/shop-team" ? { kind: "Group", metadata: { name: "shop-team", title: "Shop" } } : null)) })],
    ["/by-query", ({ query }) => (JSON.stringify(query).includes('"not ready"') ? { items: resources, totalItems: total, pageInfo: {} } : { items: [], totalItems: 0, pageInfo: {} })],
    ["/templates/usage", () => ({ items: [] })],
    ["/tasks", () => ({ tasks: [] })],
    ["/multiget", () => ({ items: [null] })],
  ];
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    const found = answers.find(([part]) => url.includes(part));
    return new Response(JSON.stringify(found ? found[1](init?.body ? JSON.parse(String(init.body)) : {}) : {}), { status: found ? 200 : 404 });
  });
});

const region = async (name: string) => within(await screen.findByRole("region", { name }));

test("who owns nothing is shown where to create something", async () => {
  render(<Testbed><HomePage /></Testbed>);
  const mine = await region("My resources");
  expect((await mine.findByRole("link", { name: "Create a resource" })).getAttribute("href")).toBe("/create");
});

test("a list that is complete has no link to all of it", async () => {
  resources = [orders];
  total = 1;
  const { unmount } = render(<Testbed><HomePage /></Testbed>);
  const mine = await region("My resources");
  // The owner has its title.
  expect(await mine.findByText("Orders of the shop · Shop")).toBeTruthy();
  expect(mine.queryByRole("link", { name: /^Show all/ })).toBeNull();
  unmount();
  total = 40;
  render(<Testbed><HomePage /></Testbed>);
  expect(await (await region("My resources")).findByRole("link", { name: "Show all 40" })).toBeTruthy();
});

test("changes have a status, and sources the state that the ingestion page shows", async () => {
  render(<Testbed><HomePage /></Testbed>);
  const changes = await region("Changed in the last 24 hours");
  expect((await changes.findByText("Ready")).querySelector("svg")).toBeTruthy();
  expect(changes.getByText(/^Resource · created$/i)).toBeTruthy();
  expect(await (await region("Sources")).findByText(/^unreadable$/i)).toBeTruthy();
});
