import { render, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { Testbed } from "../app/Testbed";
import { RefLink } from "./RefLink";

const known: Record<string, unknown> = {
  "group:default/team": { kind: "Group", metadata: { name: "team", title: "The <b>team</b>" } },
  "user:default/ada": { kind: "User", metadata: { name: "ada" }, spec: { profile: { displayName: "Ada Lovelace" } } },
  "user:default/odd": { kind: "User", metadata: { name: "odd" }, spec: { profile: { displayName: 7 } } },
};

let asked: string[][];
let failing: boolean;

beforeEach(() => {
  asked = [];
  failing = false;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (!url.endsWith("/by-refs") || failing) {
      return new Response("{}", { status: 503 });
    }
    const { entityRefs } = JSON.parse(String(init.body)) as { entityRefs: string[] };
    asked.push(entityRefs);
    return new Response(JSON.stringify({ items: entityRefs.map((ref) => known[ref] ?? null) }));
  });
});

function show() {
  return render(
    <Testbed>
      <RefLink to="team" kind="group" icon />
      <RefLink to="group:default/team" />
      <RefLink to="user:ada" />
      <RefLink to="user:odd" />
      <RefLink to="group:ops/gone" checked />
      <RefLink to="resource:soon" />
      <RefLink to="group:default/team">called so</RefLink>
      <RefLink to="not a reference" />
    </Testbed>,
  );
}

const links = () => screen.getAllByRole("link").map((a) => a.textContent);

test("links show titles, which are loaded with one request", async () => {
  show();
  expect(links()).toEqual(["team", "team", "ada", "odd", "ops/gone", "soon", "called so"]);
  await screen.findByRole("link", { name: "Ada Lovelace" });
  expect(links()).toEqual(["The <b>team</b>", "The <b>team</b>", "Ada Lovelace", "odd", "soon", "called so"]);
  expect(screen.getByText("ops/gone", { exact: false }).textContent).toContain("(not in the catalog)");
  expect(asked).toHaveLength(1);
  expect(asked[0]!.sort()).toEqual(["group:default/team", "group:ops/gone", "resource:default/soon", "user:default/ada", "user:default/odd"]);
  expect(screen.getByText("not a reference").closest("a")).toBeNull();
});

test("links show short names if the titles cannot be loaded", async () => {
  failing = true;
  const asking = vi.spyOn(globalThis, "fetch");
  show();
  await waitFor(() => expect(asking).toHaveBeenCalled());
  expect(links()).toContain("ops/gone");
  expect(screen.queryByText("(not in the catalog)")).toBeNull();
});
