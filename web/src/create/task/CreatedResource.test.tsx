import { render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { EntityPart, Task } from "../../api/types";
import { Testbed } from "../../app/Testbed";
import { CreatedResource } from "./CreatedResource";
import { TaskLog } from "./taskLog";

const task = (more: object = {}) =>
  ({
    id: "7",
    status: "completed",
    createdAt: new Date().toISOString(),
    lastHeartbeatAt: new Date().toISOString(),
    spec: {
      parameters: { name: "invoices", namespace: "shop" },
      steps: [{ id: "apply", name: "Apply", action: "cluster:apply", input: { manifest: { kind: "Bucket" } } }],
      templateInfo: { entityRef: "template:default/buckets", entity: { metadata: { name: "buckets", annotations: { "crossplane.io/xrd-name": "buckets.example.org" } } } },
    },
    ...more,
  }) as unknown as Task;

const bucket = (name: string, namespace: string, ready: string) => ({
  kind: "Resource",
  metadata: { name, title: `invoices in ${namespace}`, annotations: { "crossplane.terasky.io/xr-name": "invoices", "crossplane.terasky.io/xr-kind": "Bucket", "backstage.io/kubernetes-namespace": namespace, "crossplane.io/condition-ready": ready } },
  spec: { type: "crossplane-xr", readiness: ready === "True" ? "ready" : "not ready" },
}) as unknown as EntityPart;

let items: EntityPart[];

beforeEach(() => {
  items = [];
  vi.stubGlobal("fetch", (url: string) => {
    if (url.endsWith("/providers")) return Promise.resolve(new Response(JSON.stringify({ guest: true, oidc: false })));
    if (url.endsWith("/by-query")) return Promise.resolve(new Response(JSON.stringify({ items, totalItems: items.length, pageInfo: {} })));
    return Promise.resolve(new Response("{}", { status: 404 }));
  });
});

function follow(of: Task) {
  const log = new TaskLog();
  log.add([{ id: 1, isTaskRecoverable: false, taskId: "7", type: "log", createdAt: of.createdAt, body: { message: "", stepId: "apply", status: "completed" } }]);
  return render(
    <Testbed>
      <CreatedResource task={of} log={log} />
    </Testbed>,
  );
}

const patient = { timeout: 10_000 };

describe("CreatedResource", () => {
  test("waits for the entity and shows when it is ready", async () => {
    follow(task());
    await screen.findByText("Waiting for the resource to appear in the catalog.", {}, patient);
    items = [bucket("other", "elsewhere", "True"), bucket("mine", "shop", "False (Creating)")];
    await screen.findByText("In progress", {}, patient);
    expect(screen.getByText(/Status: Creating/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "View in catalog" }).getAttribute("href")).toBe("/catalog/default/resource/mine");
    items = [bucket("mine", "shop", "True")];
    await screen.findByText("The resource is ready.", {}, patient);
  });
  test("does not wait if no entity is expected", async () => {
    follow(task({ spec: { ...task().spec, templateInfo: { entityRef: "template:default/notes", entity: { metadata: { name: "notes" } } } } }));
    await new Promise((done) => setTimeout(done, 300));
    expect(screen.queryByText("Waiting for the resource to appear in the catalog.")).toBeNull();
  });
  test("does not wait for an old task", async () => {
    follow(task({ lastHeartbeatAt: "2020-01-01T00:00:00Z" }));
    await new Promise((done) => setTimeout(done, 300));
    expect(screen.queryByText("Waiting for the resource to appear in the catalog.")).toBeNull();
  });
});
