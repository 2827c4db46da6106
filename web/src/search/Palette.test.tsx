import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useLocation } from "react-router";
import { beforeEach, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import { SearchProvider } from "./SearchProvider";

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:default/ann", ownershipEntityRefs: ["user:default/ann"] } };
const json = (body: unknown) => new Response(JSON.stringify(body));

const database = { title: "Database", text: "A database with backups.", location: "/x", entityRef: "template:default/db", kind: "Template", namespace: "default", name: "db", componentType: "database", type: "database", lifecycle: "", owner: "group:default/data", purpose: "create" };
const orders = { ...database, title: "orders", kind: "Resource", name: "orders", text: "", purpose: undefined, readiness: "not ready" };

let searched: string[];

beforeEach(() => {
  searched = [];
  Element.prototype.scrollIntoView = () => undefined;
  vi.stubGlobal("fetch", async (path: string) => {
    const url = new URL(path, "http://portal");
    switch (url.pathname) {
      case "/api/auth/providers":
        return json({ guest: false, oidc: true });
      case "/api/auth/oidc/refresh":
        return json({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
      case "/api/user-settings/multiget":
        return json({ items: [{ value: ["resource:default/orders"] }] });
      case "/api/catalog/entities/by-refs":
        return json({ items: [{ kind: "Resource", metadata: { name: "orders", namespace: "default" } }] });
      case "/api/scaffolder/v2/tasks":
        return json({ tasks: [{ id: "1", status: "completed", spec: { parameters: { name: "invoices" }, templateInfo: { entityRef: "template:default/db", entity: { metadata: { title: "Database" } } } } }], totalTasks: 1 });
      case "/api/search/query":
        searched.push(url.searchParams.get("term") ?? "");
        return json(url.searchParams.get("term") === "nosuch" ? { results: [], numberOfResults: 0 } : { results: [database, orders].map((document) => ({ type: "software-catalog", document, rank: 1 })), numberOfResults: 2 });
    }
    return new Response("{}", { status: 404 });
  });
});

function Where() {
  const { pathname, search } = useLocation();
  return <output>{pathname + search}</output>;
}

const open = () =>
  render(
    <Testbed path="/start">
      <SearchProvider>
        <input aria-label="field" />
        <Where />
      </SearchProvider>
    </Testbed>,
  );

const where = () => document.querySelector("output")?.textContent;

test("opens with the keyboard, finds, previews and opens a form", async () => {
  open();
  await userEvent.keyboard("{Control>}k{/Control}");
  const field = await screen.findByRole("combobox");
  await userEvent.type(field, "databse");
  await screen.findByRole("option", { name: /Database/, selected: true });
  expect(screen.getByText("A database with backups.")).toBeTruthy();
  expect(searched.at(-1)).toBe("databse");
  await userEvent.keyboard("{Enter}");
  expect(where()).toBe("/create/default/db");
  await waitFor(() => expect(screen.queryByRole("combobox")).toBeNull());
});

test("Shift and Enter open the details of a Template; arrows move", async () => {
  open();
  await userEvent.keyboard("{Meta>}k{/Meta}");
  await userEvent.type(await screen.findByRole("combobox"), "data");
  await screen.findByRole("option", { name: /Database/, selected: true });
  await userEvent.keyboard("{ArrowDown}");
  expect(screen.getByRole("option", { selected: true }).textContent).toContain("orders");
  await userEvent.keyboard("{ArrowUp}{Shift>}{Enter}{/Shift}");
  expect(where()).toBe("/catalog/default/template/db");
});

test("without a term it offers what is starred, the pages and tasks", async () => {
  open();
  await userEvent.keyboard("{Control>}k{/Control}");
  expect(await within(await screen.findByRole("group", { name: "Starred" })).findByRole("option", { name: /orders/ })).toBeTruthy();
  expect(within(screen.getByRole("group", { name: "Pages" })).getByRole("option", { name: "Create" })).toBeTruthy();
  expect(await screen.findByRole("option", { name: /Database invoices/ })).toBeTruthy();
  expect(searched).toEqual([]);
});

test("no results lead to a hint", async () => {
  open();
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.type(await screen.findByRole("combobox"), "nosuch");
  expect(await screen.findByText("No results for “nosuch”")).toBeTruthy();
});

test("keys go to pages, but not while typing", async () => {
  open();
  await userEvent.click(screen.getByLabelText("field"));
  await userEvent.keyboard("gc?");
  expect(where()).toBe("/start");
  expect(screen.queryByRole("dialog")).toBeNull();
  (document.activeElement as HTMLElement).blur();
  await userEvent.keyboard("gc");
  expect(where()).toBe("/catalog");
  await userEvent.keyboard("?");
  expect(await screen.findByRole("dialog", { name: "Keyboard shortcuts" })).toBeTruthy();
});
