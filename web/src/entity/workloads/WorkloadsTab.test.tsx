import { configure, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Entity } from "../../api/types";
import { Testbed } from "../../app/Testbed";
import WorkloadsTab from "./WorkloadsTab";
import { hasWorkloads, plain } from "./queries";

// The machine may be busy.
configure({ asyncUtilTimeout: 10_000 });

const shop: Entity = {
  apiVersion: "backstage.io/v1alpha1",
  kind: "Component",
  metadata: { name: "shop", namespace: "default", annotations: { "backstage.io/kubernetes-id": "shop" } },
};

const identity = { token: "t", expiresInSeconds: 3600, identity: { type: "user", userEntityRef: "user:development/guest", ownershipEntityRefs: [] } };

const pod = {
  metadata: { name: "web-1", namespace: "shop", creationTimestamp: "2026-01-02T03:04:05Z" },
  spec: { containers: [{ name: "web" }, { name: "proxy" }] },
  status: {
    phase: "Running",
    containerStatuses: [
      { name: "web", ready: false, restartCount: 7, state: { waiting: { reason: "CrashLoopBackOff", message: "back-off <b>5m</b>" } } },
      { name: "proxy", ready: true, restartCount: 1, state: { running: {} } },
    ],
  },
};

const items = [
  {
    cluster: { name: "production" },
    resources: [
      { type: "pods", resources: [pod] },
      { type: "deployments", resources: [{ metadata: { name: "web", namespace: "shop" }, spec: { replicas: 3 }, status: { readyReplicas: 1 } }] },
    ],
    podMetrics: [],
    errors: [
      { errorType: "UNKNOWN_ERROR", statusCode: 403, resourcePath: "/apis/apps/v1/daemonsets", message: "Missing RBAC rule" },
      { errorType: "UNKNOWN_ERROR", statusCode: 403, resourcePath: "/api/v1/configmaps", message: "Missing RBAC rule" },
    ],
  },
  { cluster: { name: "edge" }, resources: [], podMetrics: [], errors: [{ errorType: "FETCH_ERROR", message: "Cluster edge cannot be reached" }] },
];

let found: { code: number; body: unknown };
let asked: string[];

beforeEach(() => {
  found = { code: 200, body: { items } };
  asked = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
    if (url.startsWith("/api/auth/providers")) {
      return answer({ guest: true, oidc: false });
    }
    if (url.startsWith("/api/auth/guest/refresh")) {
      return answer({ profile: {}, portalIdentity: identity, backstageIdentity: identity });
    }
    asked.push(`${url} ${typeof init.body === "string" ? init.body : ""}`.trim());
    if (url.endsWith("/resources/workloads/query")) {
      return answer(found.body, found.code);
    }
    if (url.includes("/events/by-name/")) {
      return answer({ items: [{ type: "Warning", reason: "BackOff", message: "restarting", count: 4, last: "2026-01-02T03:04:05Z" }] });
    }
    if (url.includes("/logs/by-name/")) {
      return new Response("\u001b[31mfailed\u001b[0m <script>x</script>");
    }
    return answer({}, 404);
  });
});

function open() {
  return render(
    <Testbed>
      <WorkloadsTab entity={shop} />
    </Testbed>,
  );
}

describe("WorkloadsTab", () => {
  it("shows workloads, pods and the problems of each cluster", async () => {
    const { container } = open();
    const workloads = await screen.findByRole("region", { name: "Workloads" });
    expect(within(workloads).getByText("1/3")).toBeTruthy();
    expect(within(workloads).getByText("Not ready")).toBeTruthy();
    const pods = screen.getByRole("region", { name: "Pods" });
    expect(within(pods).getByText("CrashLoopBackOff")).toBeTruthy();
    expect(within(pods).getByText("back-off <b>5m</b>")).toBeTruthy();
    expect(within(pods).getByText("8")).toBeTruthy();
    expect(screen.getByText("Cluster edge cannot be reached")).toBeTruthy();
    expect(screen.getByText("Cannot read daemonsets (403). Missing RBAC rule")).toBeTruthy();
    expect(screen.queryByText(/configmaps/)).toBeNull();
    expect(container.querySelector("b")).toBeNull();
    expect(asked).toEqual([`/api/orchestrator/resources/workloads/query {"entityRef":"component:default/shop","auth":{}}`]);
  });

  it("shows the log of a container as text, by keyboard", async () => {
    open();
    const user = userEvent.setup();
    (await screen.findByRole("button", { name: "Logs of pod web-1" })).focus();
    await user.keyboard("{Enter}");
    const log = await screen.findByRole("region", { name: "Log of container web" });
    expect(log.textContent).toBe("failed <script>x</script>");
    await user.selectOptions(screen.getByLabelText("Container"), "proxy");
    await screen.findByRole("region", { name: "Log of container proxy" });
    await user.click(screen.getByRole("button", { name: "Refresh" }));
    expect(asked.filter((a) => a.includes("/logs/"))).toEqual([
      "/api/orchestrator/logs/by-name/component/default/shop?cluster=production&namespace=shop&pod=web-1&container=web",
      "/api/orchestrator/logs/by-name/component/default/shop?cluster=production&namespace=shop&pod=web-1&container=proxy",
      "/api/orchestrator/logs/by-name/component/default/shop?cluster=production&namespace=shop&pod=web-1&container=proxy",
    ]);
  });

  it("shows the events of a workload", async () => {
    open();
    await userEvent.click(await screen.findByRole("button", { name: "Events of Deployment web" }));
    expect(await screen.findByText("restarting")).toBeTruthy();
    expect(screen.getByText(/4 times/)).toBeTruthy();
    expect(asked.at(-1)).toBe("/api/orchestrator/events/by-name/component/default/shop?cluster=production&type=deployments&namespace=shop&object=web");
  });

  it("says that there are none, and why they cannot be read", async () => {
    found = { code: 200, body: { items: [] } };
    const { unmount } = open();
    expect(await screen.findByText("No workloads")).toBeTruthy();
    unmount();
    found = { code: 403, body: { error: { name: "NotAllowedError", message: "Missing permission kubernetes.resources.read" } } };
    open();
    expect(await screen.findByText("Missing permission kubernetes.resources.read")).toBeTruthy();
  });
});

describe("hasWorkloads", () => {
  it("requires an annotation, in either spelling", () => {
    const of = (annotations: Record<string, string>): Entity => ({ ...shop, metadata: { name: "shop", annotations } });
    expect(hasWorkloads(of({}))).toBe(false);
    expect(hasWorkloads(of({ "backstage.io/kubernetes-namespace": "shop" }))).toBe(false);
    expect(hasWorkloads(of({ "portal.io/cluster-id": "shop" }))).toBe(true);
    expect(hasWorkloads(of({ "backstage.io/kubernetes-label-selector": "app=shop" }))).toBe(true);
  });
});

describe("plain", () => {
  it("removes colors", () => {
    expect(plain("a\u001b[1;31mb\u001b[0mc [0m")).toBe("abc [0m");
  });
});
