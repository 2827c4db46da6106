import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import CatalogPage from "./CatalogPage";

type Body = { offset?: number; query?: unknown; fullTextFilter?: { term: string }; facets?: string[]; orderBy?: { field: string; order: string }[] };

let asked: { path: string; body: Body }[];
let answer: (body: Body) => Response;

function json(body: unknown, status = 200) {
  return new Response(JSON.stringify(body), { status });
}

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:development/guest", ownershipEntityRefs: [] } };

beforeEach(() => {
  asked = [];
  answer = () => json({ items: [], totalItems: 0, pageInfo: {} });
  // Give elements a size: without one the virtualizer renders no rows.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(800);
  Element.prototype.scrollTo = () => undefined;
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (path === "/api/auth/providers") {
      return json({ guest: true, oidc: false });
    }
    if (path === "/api/auth/guest/refresh") {
      return json({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    const body = JSON.parse(String(init?.body)) as Body;
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
