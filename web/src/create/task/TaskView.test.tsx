import { render, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { Testbed } from "../../app/Testbed";
import { TaskView } from "./TaskView";

const session = { portalIdentity: { token: "t", expiresInSeconds: 3600, identity: { userEntityRef: "user:default/ann", ownershipEntityRefs: [], type: "user" } }, profile: {} };

const task = {
  id: "7",
  status: "failed",
  createdBy: "user:default/ben",
  createdAt: "2030-01-01T00:00:00Z",
  lastHeartbeatAt: "2030-01-01T00:00:03Z",
  spec: {
    parameters: { name: "invoices" },
    steps: [
      { id: "say", name: "Say it", action: "debug:log" },
      { id: "apply", name: "Apply it", action: "cluster:apply" },
    ],
    templateInfo: { entityRef: "template:default/db", entity: { metadata: { name: "db", title: "Database" } } },
  },
};

const event = (id: number, stepId: string, status: string, message: string) => ({ id, taskId: "7", type: "log", createdAt: "2030-01-01T00:00:01Z", body: { stepId, status, message } });
const events = [event(1, "say", "processing", "saying"), event(2, "say", "completed", "said"), event(3, "apply", "processing", "applying"), event(4, "apply", "failed", "no namespace"), { ...event(5, "", "", ""), type: "completion", body: { message: "Run failed", error: { message: "no namespace" } } }];

beforeEach(() => {
  vi.stubGlobal("fetch", (url: string) => {
    const json = (body: unknown, status = 200) => Promise.resolve(new Response(JSON.stringify(body), { status }));
    if (url.endsWith("/providers")) return json({ guest: false, oidc: true });
    if (url.endsWith("/refresh")) return json(session);
    if (url.endsWith("/by-refs")) return json({ items: [{ kind: "User", metadata: { name: "ben" }, spec: { profile: { displayName: "Ben Example" } } }] });
    if (url.includes("/tasks/7/eventstream") || url.includes("/tasks/7/events")) {
      return Promise.resolve(new Response(events.map((e) => `id: ${e.id}\nevent: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join(""), { headers: { "Content-Type": "text/event-stream" } }));
    }
    return url.includes("/tasks/7") ? json(task) : json({ error: { name: "NotFoundError", message: "nothing" } }, 404);
  });
});

const open = (id: string) =>
  render(
    <Testbed>
      <TaskView id={id} />
    </Testbed>,
  );

test("a failed task says the cause first and opens the step that failed", async () => {
  open("7");
  expect(await screen.findByRole("heading", { name: "Database invoices" })).toBeTruthy();
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toBe("Failed at step: Apply itno namespace");
  expect(await screen.findByRole("log", { name: "Log of step apply" })).toBeTruthy();
  expect(screen.getByRole("button", { name: /^Apply it/ }).getAttribute("aria-pressed")).toBe("true");
  const lead = screen.getAllByRole("status")[0]!;
  await waitFor(() => expect(lead.textContent).toMatch(/Failed.*by Ben Example.*from template Database.*took 3.0 s/));
});

test("a task that does not exist", async () => {
  open("8");
  expect(await screen.findByRole("heading", { name: "Task not found" })).toBeTruthy();
});
