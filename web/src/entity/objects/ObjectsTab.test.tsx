import { configure, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import type { Entity } from "../../api/types";
import ObjectsTab from "./ObjectsTab";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

const entity = {
  apiVersion: "portal.io/v1alpha1",
  kind: "Resource",
  metadata: { name: "photos-1", namespace: "default", annotations: { "portal.io/discovered-from": "production" } },
  spec: { type: "composer-xr" },
} as unknown as Entity;

const child = (n: number) => ({ ref: { apiVersion: "v1", kind: "ConfigMap", name: `c${n}` }, state: "present", readiness: "none" });
const children = Array.from({ length: 7 }, (_, i) => child(i));

let events: unknown[];
let failing: boolean;

beforeEach(() => {
  events = [];
  failing = false;
  vi.stubGlobal("fetch", async (url: string) => {
    const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (!url.includes("/status")) {
      return answer({}, 404);
    }
    const skip = Number(new URL(url, "http://x").searchParams.get("skip") ?? 0);
    if (failing && skip > 0) {
      return answer({ error: { name: "ServiceUnavailableError", message: "Cluster production cannot be reached" } }, 503);
    }
    // A part has three children.
    const more = Math.max(0, children.length - skip - 3) || undefined;
    const tree = { ref: { apiVersion: "a/v1", kind: "Bucket", name: "photos" }, state: "present", readiness: "ready", children: children.slice(skip, skip + 3), more };
    return answer({ cluster: "production", ready: true, tree, events, read: "2026-01-02T03:04:05Z" });
  });
});

function open() {
  return render(
    <Testbed path="/?tab=objects">
      <ObjectsTab entity={entity} />
    </Testbed>,
  );
}

it("loads more objects until none are left", async () => {
  open();
  await userEvent.click(await screen.findByRole("button", { name: "Show 4 more" }));
  await userEvent.click(await screen.findByRole("button", { name: "Show 1 more" }));
  const objects = within(screen.getByRole("region", { name: "Objects" }));
  expect(await objects.findByText(/c6/)).toBeTruthy();
  expect(objects.getAllByRole("listitem")).toHaveLength(8);
  expect(screen.queryByRole("button", { name: /more$/ })).toBeNull();
});

it("shows why more objects cannot be loaded, and tries again", async () => {
  failing = true;
  open();
  await userEvent.click(await screen.findByRole("button", { name: "Show 4 more" }));
  expect(await screen.findByText("Cluster production cannot be reached")).toBeTruthy();
  failing = false;
  await userEvent.click(screen.getByRole("button", { name: "Show 4 more" }));
  expect(await screen.findByRole("button", { name: "Show 1 more" })).toBeTruthy();
  expect(screen.queryByText("Cluster production cannot be reached")).toBeNull();
});

it("lists events", async () => {
  events = [{ object: child(0).ref, type: "Warning", reason: "Failed", message: "<b>no</b>", count: 3, last: new Date(Date.now() - 120_000).toISOString() }];
  open();
  const row = within(await screen.findByRole("region", { name: "Events about the objects" })).getAllByRole("row")[1]!;
  expect(within(row).getAllByRole("cell").map((c) => c.textContent)).toEqual(["Warning", "Failed", "<b>no</b>", "3", "ConfigMap c0", "2 minutes ago"]);
});

it("says how long events are kept if there are none", async () => {
  open();
  expect(await screen.findByText(/keeps events for about an hour/)).toBeTruthy();
});
