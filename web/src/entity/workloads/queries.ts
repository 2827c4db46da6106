import { useQuery } from "@tanstack/react-query";
import { fetchJson, fetchRaw, path, withQuery } from "../../api/client";
import { annotation, formatRef, refOf } from "../../api/entity";
import type { Entity, Schemas } from "../../api/types";
import type { Place } from "./facts";

// refresh is the interval at which workloads are read again, in milliseconds.
const refresh = 5_000;

// hasWorkloads reports whether the annotations of an entity select workloads.
export function hasWorkloads(entity: Entity): boolean {
  return annotation(entity, "portal.io/cluster-id") !== "" || annotation(entity, "portal.io/kubernetes-label-selector") !== "";
}

// useWorkloads loads what runs for an entity every few seconds.
export function useWorkloads(entity: Entity) {
  const entityRef = formatRef(refOf(entity));
  return useQuery({
    queryKey: ["workloads", entityRef],
    queryFn: ({ signal }) => fetchJson<Schemas["ObjectsByEntity"]>("/api/orchestrator/resources/workloads/query", { json: { entityRef, auth: {} }, signal }),
    refetchInterval: ({ state }) => (state.status === "error" ? false : refresh),
    retry: false,
  });
}

function below(entity: Entity, what: string): string {
  const { kind, namespace, name } = refOf(entity);
  return path(`/api/orchestrator/${what}/by-name`, kind, namespace, name);
}

// useEvents loads the events about an object.
export function useEvents(entity: Entity, { cluster, type, namespace, name }: Place) {
  return useQuery({
    queryKey: ["workload-events", formatRef(refOf(entity)), cluster, type, namespace, name],
    queryFn: ({ signal }) => fetchJson<{ items: Schemas["WorkloadEvent"][] }>(withQuery(below(entity, "events"), { cluster, type, namespace, object: name }), { signal }),
    retry: false,
  });
}

// useLog loads the end of the log of a container.
export function useLog(entity: Entity, { cluster, namespace, name }: Place, container: string, previous: boolean) {
  return useQuery({
    queryKey: ["workload-log", formatRef(refOf(entity)), cluster, namespace, name, container, previous],
    queryFn: async ({ signal }) => {
      const answer = await fetchRaw(withQuery(below(entity, "logs"), { cluster, namespace, pod: name, container, previous: previous || undefined }), { signal });
      return plain(await answer.text());
    },
    // A log is never shown from an earlier visit.
    gcTime: 0,
    retry: false,
  });
}

// escapes are the control sequences of terminals that programs color their output with.
const escapes = /\u001b\[[0-9;?]*[A-Za-z]/g;

// plain removes colors from a log.
export function plain(log: string): string {
  return log.replace(escapes, "");
}
