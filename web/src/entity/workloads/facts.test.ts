import { describe, expect, it } from "vitest";
import type { Schemas } from "../../api/types";
import { podsOf, workloadsOf } from "./facts";

function response(type: string, ...resources: unknown[]): Schemas["ClusterObjects"][] {
  return [{ cluster: { name: "c" }, resources: [{ type, resources } as Schemas["TypedObjects"]], podMetrics: [], errors: [] }];
}

describe("podsOf", () => {
  const waiting = (reason: string) => ({ containerStatuses: [{ state: { waiting: { reason } } }] });
  const cases: [why: string, pod: unknown, state: string, tone: string][] = [
    ["a waiting container", { status: { phase: "Pending", ...waiting("ImagePullBackOff") } }, "ImagePullBackOff", "error"],
    ["a container that starts", { status: { phase: "Pending", ...waiting("ContainerCreating") } }, "ContainerCreating", "progress"],
    ["an init container", { status: { phase: "Pending", initContainerStatuses: waiting("CrashLoopBackOff").containerStatuses } }, "CrashLoopBackOff", "error"],
    ["a failed container", { status: { phase: "Running", containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }] } }, "OOMKilled", "error"],
    ["a running pod", { status: { phase: "Running", containerStatuses: [{ state: { running: {} }, ready: true }] } }, "Running", "success"],
    ["a pod that is not ready", { status: { phase: "Running", conditions: [{ type: "Ready", status: "False", message: "no" }] } }, "not ready", "warning"],
    ["a completed pod", { status: { phase: "Succeeded", containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] } }, "Succeeded", "success"],
    ["an evicted pod", { status: { phase: "Failed", reason: "Evicted" } }, "Evicted", "error"],
    ["a pod that is removed", { metadata: { deletionTimestamp: "2026-01-02T03:04:05Z" }, status: { phase: "Running" } }, "Terminating", "progress"],
    ["nonsense", { status: { containerStatuses: "x", phase: 7 }, spec: null }, "Unknown", "warning"],
    ["null", null, "Unknown", "warning"],
  ];
  it.each(cases)("says the state of %s", (_, pod, state, tone) => {
    expect(podsOf(response("pods", pod))).toMatchObject([{ state, tone }]);
  });
});

describe("workloadsOf", () => {
  const cases: [type: string, object: unknown, ready: string, state: string][] = [
    ["deployments", { status: { readyReplicas: 1 } }, "1/1", "ready"],
    ["deployments", { spec: { replicas: 0 } }, "0/0", "scaled to 0"],
    ["statefulsets", { spec: { replicas: 3 }, status: { readyReplicas: 2 } }, "2/3", "not ready"],
    ["daemonsets", { status: { numberReady: 2, desiredNumberScheduled: 2 } }, "2/2", "ready"],
    ["jobs", { spec: { completions: 2 }, status: { succeeded: 1 } }, "1/2", "running"],
    ["jobs", { status: { succeeded: 1 } }, "1/1", "completed"],
    ["jobs", { status: { conditions: [{ type: "Failed", status: "True" }] } }, "0/1", "failed"],
    ["cronjobs", { spec: { suspend: true } }, "undefined/undefined", "suspended"],
  ];
  it.each(cases)("counts %s", (type, object, ready, state) => {
    expect(workloadsOf(response(type, object)).map((w) => [`${w.ready}/${w.wanted}`, w.state])).toEqual([[ready, state]]);
  });
  it("leaves out what runs no pods", () => {
    expect(workloadsOf(response("services", {}))).toEqual([]);
  });
});
