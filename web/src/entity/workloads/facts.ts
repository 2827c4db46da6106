import type { Schemas } from "../../api/types";
import { texts } from "../../text";
import type { Tone } from "../../components/Tag";

// Place identifies an object in a cluster.
export type Place = { cluster: string; type: string; namespace: string; name: string };

// Workload is an object that runs pods, with how many of them are ready.
export type Workload = Place & { kind: string; created?: string; ready?: number; wanted?: number; state: string; tone: Tone };

// Pod is a pod with the state of its containers.
export type Pod = Place & { created?: string; ready: number; containers: string[]; state: string; tone: Tone; restarts: number; message: string };

// Problem is why something of a cluster is missing.
export type Problem = { cluster: string; message: string };

type Json = Record<string, unknown>;

const kinds: Record<string, string> = {
  deployments: "Deployment",
  statefulsets: "StatefulSet",
  daemonsets: "DaemonSet",
  jobs: "Job",
  cronjobs: "CronJob",
};

// Objects come from clusters, and are untrusted: their types are checked.
function field(of: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((value, key) => (typeof value === "object" && value !== null ? (value as Json)[key] : undefined), of);
}

function text(of: unknown, ...keys: string[]): string {
  const value = field(of, ...keys);
  return typeof value === "string" ? value : "";
}

function count(of: unknown, ...keys: string[]): number {
  const value = field(of, ...keys);
  return typeof value === "number" ? value : 0;
}

function list(of: unknown, ...keys: string[]): unknown[] {
  const value = field(of, ...keys);
  return Array.isArray(value) ? value : [];
}

function placeOf(cluster: string, type: string, o: unknown): Place & { created?: string } {
  const created = text(o, "metadata", "creationTimestamp");
  return { cluster, type, namespace: text(o, "metadata", "namespace"), name: text(o, "metadata", "name"), ...(created && { created }) };
}

function each<T>(all: Schemas["ClusterObjects"][], made: (cluster: string, type: string, o: unknown) => T | undefined): T[] {
  const found = all.flatMap((c) => c.resources.flatMap((r) => r.resources.map((o) => made(c.cluster.name, r.type, o))));
  return found.filter((x) => x !== undefined);
}

// workloadsOf returns the workloads of a response.
export function workloadsOf(all: Schemas["ClusterObjects"][]): Workload[] {
  return each(all, (cluster, type, o) => {
    const kind = kinds[type];
    return kind === undefined ? undefined : { ...placeOf(cluster, type, o), kind, ...progressOf(type, o) };
  });
}

// progressOf returns how far a workload is.
function progressOf(type: string, o: unknown): Pick<Workload, "ready" | "wanted" | "state" | "tone"> {
  switch (type) {
    case "jobs": {
      const failed = list(o, "status", "conditions").some((c) => text(c, "type") === "Failed" && text(c, "status") === "True");
      const wanted = count(o, "spec", "completions") || 1;
      const ready = count(o, "status", "succeeded");
      return failed ? { ready, wanted, state: "failed", tone: "error" } : { ready, wanted, ...(ready >= wanted ? done : running) };
    }
    case "cronjobs":
      return field(o, "spec", "suspend") === true ? { state: "suspended", tone: "warning" } : { state: "scheduled", tone: "plain" };
    case "daemonsets":
      return counted(count(o, "status", "numberReady"), count(o, "status", "desiredNumberScheduled"));
  }
  const wanted = field(o, "spec", "replicas");
  return counted(count(o, "status", "readyReplicas"), typeof wanted === "number" ? wanted : 1);
}

const done = { state: "completed", tone: "success" } as const;
const running = { state: "running", tone: "progress" } as const;

function counted(ready: number, wanted: number): Pick<Workload, "ready" | "wanted" | "state" | "tone"> {
  if (wanted === 0) {
    return { ready, wanted, state: "scaled to 0", tone: "plain" };
  }
  return ready >= wanted ? { ready, wanted, state: "ready", tone: "success" } : { ready, wanted, state: "not ready", tone: "error" };
}

// podsOf returns the pods of a response.
export function podsOf(all: Schemas["ClusterObjects"][]): Pod[] {
  return each(all, (cluster, type, o) => (type === "pods" ? podOf(cluster, type, o) : undefined));
}

function podOf(cluster: string, type: string, o: unknown): Pod {
  const statuses = list(o, "status", "containerStatuses");
  const all = [...list(o, "status", "initContainerStatuses"), ...statuses];
  const names = [...list(o, "spec", "containers"), ...list(o, "spec", "initContainers")].map((c) => text(c, "name")).filter(Boolean);
  return {
    ...placeOf(cluster, type, o),
    containers: names,
    ready: statuses.filter((s) => field(s, "ready") === true).length,
    restarts: all.reduce<number>((sum, s) => sum + count(s, "restartCount"), 0),
    ...stateOf(o, all),
  };
}

// stateOf returns the state of a pod: why a container waits or has failed, else its phase.
function stateOf(o: unknown, statuses: unknown[]): Pick<Pod, "state" | "tone" | "message"> {
  if (text(o, "metadata", "deletionTimestamp")) {
    return { state: "Terminating", tone: "progress", message: "" };
  }
  for (const s of statuses) {
    const reason = text(s, "state", "waiting", "reason");
    if (reason) {
      const starting = reason === "ContainerCreating" || reason === "PodInitializing";
      return { state: reason, tone: starting ? "progress" : "error", message: text(s, "state", "waiting", "message") };
    }
  }
  for (const s of statuses) {
    if (count(s, "state", "terminated", "exitCode") !== 0) {
      return { state: text(s, "state", "terminated", "reason") || "Error", tone: "error", message: text(s, "state", "terminated", "message") };
    }
  }
  const phase = text(o, "status", "phase") || "Unknown";
  const why = list(o, "status", "conditions").find((c) => text(c, "status") === "False" && text(c, "message") !== "");
  if (phase === "Running") {
    const unready = list(o, "status", "conditions").some((c) => text(c, "type") === "Ready" && text(c, "status") === "False");
    return unready ? { state: "not ready", tone: "warning", message: text(why, "message") } : { state: "Running", tone: "success", message: "" };
  }
  const message = text(o, "status", "message") || text(why, "message");
  return { state: text(o, "status", "reason") || phase, tone: tones[phase] ?? "warning", message: phase === "Succeeded" ? "" : message };
}

const tones: Record<string, Tone> = { Succeeded: "success", Pending: "progress", Failed: "error" };

// isShown reports whether an error is about something that the page shows.
function isShown({ resourcePath }: Schemas["FetchError"]): boolean {
  const type = resourcePath?.split("/").at(-1);
  return type === undefined || type === "pods" || kinds[type] !== undefined;
}

// problemsOf returns what could not be read, each once.
export function problemsOf(all: Schemas["ClusterObjects"][]): Problem[] {
  return all.flatMap((c) => {
    const said = c.errors.filter(isShown).map((e) => {
      const what = e.resourcePath ? texts.entity.workloads.cannotRead(e.resourcePath.split("/").at(-1) ?? "", String(e.statusCode ?? e.errorType)) : "";
      return [what, e.message].filter(Boolean).join(". ") || e.errorType;
    });
    return [...new Set(said)].map((message) => ({ cluster: c.cluster.name, message }));
  });
}
