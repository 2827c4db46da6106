import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import { texts } from "../text";
import CatalogPage from "./CatalogPage";

type Body = { offset?: number; query?: unknown; fullTextFilter?: { term: string }; facets?: string[]; entityRefs?: string[]; orderBy?: { field: string; order: string }[] };

let asked: { path: string; body: Body }[];
let answer: (body: Body) => Response;

function json(body: unknown, status = 200) {
  return new Response(JSON.stringify(body), { status });
}

const identityOf = (ref: string, own: string[]) => ({ token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: ref, ownershipEntityRefs: own } });
const identity = identityOf("user:development/guest", []);
const ann = identityOf("user:default/ann", ["user:default/ann", "group:default/red"]);
// signedIn is whether ann is signed in; otherwise a guest is.
let signedIn: boolean;

beforeEach(() => {
  asked = [];
  signedIn = false;
  answer = () => json({ items: [], totalItems: 0, pageInfo: {} });
  // Give elements a size: without one the virtualizer renders no rows.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockImplementation(function (this: HTMLElement) {
    return this.dataset.index === undefined ? 600 : 56;
  });
  Element.prototype.scrollTo = () => undefined;
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (path === "/api/auth/providers") {
      return json({ guest: !signedIn, oidc: signedIn });
    }
    if (path === "/api/auth/guest/refresh") {
      return json({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    if (path === "/api/auth/oidc/refresh") {
      return json({ profile: {}, portalIdentity: ann, backstageIdentity: ann });
    }
    const body = JSON.parse(String(init?.body)) as Body;
    if (path === "/api/catalog/entities/by-refs") {
      return json({ items: (body.entityRefs ?? []).map((ref) => (ref === "group:default/team" ? { kind: "Group", metadata: { name: "team", title: "The team" } } : null)) });
    }
    asked.push({ path, body });
    if (path === "/api/catalog/entity-facets") {
      return json({ facets: Object.fromEntries((body.facets ?? []).map((f) => [f, f === "kind" ? [{ value: "API", count: 2 }] : []])) });
    }
    return answer(body);
  });
});

const page = (path: string) =>
  render(
    <Testbed path={path}>
      <CatalogPage />
    </Testbed>,
  );

function rows(count: number): (body: Body) => Response {
  return (body) => {
    const first = body.offset ?? 0;
    const items = Array.from({ length: Math.min(100, count - first) }, (_, i) => ({
      kind: "API",
      metadata: { name: `n${first + i}`, namespace: "default", title: `Title ${first + i}` },
      spec: { type: "openapi", owner: "group:default/team" },
    }));
    return json({ items, totalItems: count, pageInfo: {} });
  };
}

test("renders rows and requests only visible pages", async () => {
  answer = rows(100_000);
  page("/catalog");
  expect(await screen.findByRole("link", { name: "Title 0" })).toBeTruthy();
  expect(screen.getByText("100,000 entities")).toBeTruthy();
  expect(screen.getByRole("grid").getAttribute("aria-rowcount")).toBe("100001");
  expect(screen.getAllByRole("row").length).toBeLessThan(60);
  expect(asked.filter((a) => a.path.endsWith("by-query")).every((a) => a.body.offset === 0)).toBe(true);
});

test("owners have their titles, and the reference as tooltip", async () => {
  answer = rows(1);
  page("/catalog");
  expect((await screen.findAllByText("The team")).some((e) => e.title === "group:default/team")).toBe(true);
});

test("a selected kind shows all entities, and the switch says why", async () => {
  answer = rows(3);
  page("/catalog");
  const all = await screen.findByRole("switch", { name: "Show all entities" });
  expect(all).toMatchObject({ checked: false, disabled: false });
  await userEvent.click(await screen.findByRole("checkbox", { name: "API" }));
  await waitFor(() => expect(all).toMatchObject({ checked: true, disabled: true, title: "All entities are shown because a kind, type or system is selected" }));
});

test("builds the query from the URL", async () => {
  answer = rows(3);
  page("/catalog?q=data&kind=API&sort=type&order=desc");
  await screen.findByRole("link", { name: "Title 0" });
  const body = asked.find((a) => a.path.endsWith("by-query"))!.body;
  expect(body.fullTextFilter).toEqual({ term: "data" });
  expect(body.query).toEqual({ $all: [{ kind: { $in: ["API"] } }] });
  expect(body.orderBy).toEqual([{ field: "spec.type", order: "desc" }]);
});

test("debounces the search while typing", async () => {
  answer = rows(3);
  page("/catalog");
  await screen.findByRole("link", { name: "Title 0" });
  await userEvent.type(screen.getByRole("searchbox", { name: "Search the catalog" }), "queue");
  await waitFor(() => expect(asked.some((a) => a.body.fullTextFilter?.term === "queue")).toBe(true));
  // The filter counts follow the search.
  await waitFor(() => expect(asked.some((a) => a.path.endsWith("entity-facets") && a.body.fullTextFilter?.term === "queue")).toBe(true));
  expect(new Set(asked.map((a) => a.body.fullTextFilter?.term).filter(Boolean)).size).toBeLessThan(4);
});

test("a column header toggles the sort order", async () => {
  answer = rows(3);
  page("/catalog");
  await screen.findByRole("link", { name: "Title 0" });
  await userEvent.click(screen.getByRole("button", { name: "Kind" }));
  await userEvent.click(screen.getByRole("button", { name: "Kind" }));
  await waitFor(() => expect(asked.at(-1)?.body.orderBy).toEqual([{ field: "kind", order: "desc" }]));
  expect(screen.getByRole("columnheader", { name: "Kind" }).getAttribute("aria-sort")).toBe("descending");
});

test("shows empty states for no results and for an empty catalog", async () => {
  const { unmount } = page("/catalog?q=nosuch");
  expect(await screen.findByText("No results")).toBeTruthy();
  unmount();
  page("/catalog");
  expect(await screen.findByText("The catalog is empty")).toBeTruthy();
});

test("shows an error and retries", async () => {
  answer = () => json({ error: { name: "InputError", message: "That is no filter" } }, 400);
  page("/catalog");
  expect(await screen.findByText("That is no filter")).toBeTruthy();
  answer = rows(1);
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(await screen.findByRole("link", { name: "Title 0" })).toBeTruthy();
});

test("shows the status with icon and word, and never says ready about a stale entity", async () => {
  const resource = (name: string, spec: object, annotations: object = {}) => ({ kind: "Resource", metadata: { name, namespace: "default", annotations }, spec });
  answer = () =>
    json({
      items: [
        resource("a", { readiness: "ready", readinessSince: "2026-01-01T00:00:00Z" }),
        resource("b", { readiness: "not ready" }),
        resource("c", { readiness: "ready" }, { "backstage.io/stale": "prod/composites" }),
        resource("d", {}),
        resource("e", {}, { "backstage.io/stale": "prod/composites" }),
      ],
      totalItems: 5,
      pageInfo: {},
    });
  page("/catalog");
  await screen.findByRole("link", { name: "a" });
  const status = (row: number) => screen.getAllByRole("row")[row]!.querySelectorAll("[role=gridcell]")[3]!;
  expect(screen.getAllByRole("columnheader")[3]!.textContent).toBe("Status");
  // What is stale says so beside the status, whatever that is.
  expect([1, 2, 3, 4, 5].map((row) => status(row).textContent)).toEqual(["Ready", "Not ready", `Unknown, last known: ready${texts.catalog.stale}`, "", texts.catalog.stale]);
  expect(status(1).querySelector("svg")).toBeTruthy();
  expect(status(1).querySelector("span")?.title).toMatch(/^since .*2026|^since .*2025/);
  expect(status(3).querySelector("span")?.title).toBe("last known: ready");
  expect(status(5).querySelector("[title]")?.getAttribute("title")).toBe("prod/composites");
});

test("one click shows what is not ready and mine", async () => {
  signedIn = true;
  answer = rows(3);
  page("/catalog?kind=Resource");
  const button = await screen.findByRole("button", { name: "Not ready, owned by me" });
  expect(button.getAttribute("aria-pressed")).toBe("false");
  await userEvent.click(button);
  await waitFor(() => expect(JSON.stringify(asked.at(-1)?.body.query)).toContain("not ready"));
  expect(button.getAttribute("aria-pressed")).toBe("true");
  expect((screen.getByRole("checkbox", { name: "Owned by me" }) as HTMLInputElement).checked).toBe(true);
  await waitFor(() => {
    const all = JSON.stringify(asked.filter((a) => a.path.endsWith("by-query")).at(-1)?.body.query);
    expect(all).toContain('"relations.ownedBy":{"$in":["user:default/ann","group:default/red"]}');
    expect(all).toContain('"kind":{"$in":["Resource"]}');
  });
  await userEvent.click(button);
  await waitFor(() => expect(asked.filter((a) => a.path.endsWith("by-query")).at(-1)?.body.query).toEqual({ $all: [{ kind: { $in: ["Resource"] } }] }));
});

test("guests own nothing, so they are not asked", async () => {
  answer = rows(3);
  page("/catalog");
  await screen.findByRole("link", { name: "Title 0" });
  expect(screen.queryByRole("button", { name: "Not ready, owned by me" })).toBeNull();
  expect(screen.queryByRole("checkbox", { name: "Owned by me" })).toBeNull();
});
