import { useEffect } from "react";
import { skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError, fetchJson, fetchRaw, path, withQuery } from "../api/client";
import { usePermission } from "../app/permission";
import { useSession } from "../app/session";
import { annotation, annotations, spellings, type Ref } from "../api/entity";
import { pause, readFrames, type Frame } from "../api/eventStream";
import { readinessOf } from "../api/readiness";
import type { Entity, EntityPart, Schemas } from "../api/types";
import { conditionsOf, inOrder, roleOf, type Condition, type State } from "./facts";

// Refresh intervals in milliseconds: while a resource is expected to change, and otherwise.
export const live = 3_000;
const calm = 15_000;

// useEntity loads an entity and refreshes it.
export function useEntity(ref: Ref, watching: boolean) {
  return useQuery({
    queryKey: ["entity", ref.kind.toLowerCase(), ref.namespace.toLowerCase(), ref.name.toLowerCase()],
    queryFn: ({ signal }) => fetchJson<Entity>(path("/api/catalog/entities/by-name", ref.kind, ref.namespace, ref.name), { signal }),
    refetchInterval: (query) => (watching || isComing(query.state.data) ? live : calm),
  });
}

// isComing reports whether an entity is likely to change soon: a resource that is not ready.
function isComing(entity: Entity | undefined): boolean {
  const readiness = entity && readinessOf(entity)?.value;
  return readiness !== undefined && readiness !== "ready";
}

// useConditions loads the conditions of a resource every few seconds. Until then, and without a result, it returns those of
// the entity.
export function useConditions(entity: Entity): Condition[] {
  const { namespace = "default", name } = entity.metadata;
  const { data } = useQuery({
    queryKey: ["conditions", namespace, entity.kind, name],
    queryFn: ({ signal }) => fetchJson<{ items: Schemas["Condition"][] }>(path("/api/composer-ingestor/conditions", entity.kind, namespace, name), { signal }),
    // Some resources have no cluster object.
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : live),
    retry: false,
  });
  return data ? inOrder(data.items.map(conditionOf)) : conditionsOf(entity);
}

// resourcePath returns the path of the API of a resource.
function resourcePath(entity: Entity): string {
  return path("/api/resources/by-name", entity.kind, entity.metadata.namespace ?? "default", entity.metadata.name);
}

function resourceKey(of: string, entity: Entity): string[] {
  return [of, entity.metadata.namespace ?? "default", entity.kind, entity.metadata.name];
}

// hasObject reports whether a resource was read from a cluster; one from a folder was not.
export function hasObject(entity: Entity): boolean {
  return roleOf(entity) === "resource" && annotation(entity, annotations.discoveredFrom) !== "";
}

// Following says whether the status arrives by itself, and why it is not known.
export type Following = { connected: boolean; problem?: { message: string; lastRead?: string } };

const disconnected: Following = { connected: false };

// useResourceStatus loads what a resource consists of, and why it is not ready. It polls unless useResourceStream is connected.
export function useResourceStatus(entity: Entity) {
  const { data: following = disconnected } = useQuery<Following>({ queryKey: resourceKey("following", entity), queryFn: skipToken, initialData: disconnected });
  const query = useQuery({
    queryKey: resourceKey("status", entity),
    queryFn: ({ signal }) => fetchJson<Schemas["ResourceStatus"]>(`${resourcePath(entity)}/status`, { signal }),
    enabled: hasObject(entity) && !following.connected,
    refetchInterval: ({ state }) => (following.connected || isMissing(state.error) ? false : state.data?.ready ? calm : live),
    retry: false,
  });
  return { ...query, problem: following.problem, connected: following.connected };
}

// useResourceStream follows the status of a resource while the page is visible: browsers limit the connections to a host, so
// hidden pages must not hold one.
export function useResourceStream(entity: Entity | undefined) {
  const client = useQueryClient();
  const at = entity && hasObject(entity) ? resourcePath(entity) : undefined;
  useEffect(() => {
    if (!entity || at === undefined) {
      return;
    }
    const set = (following: Following) => client.setQueryData(resourceKey("following", entity), following);
    const take = (frames: Frame[]) => {
      for (const { event, data } of frames) {
        if (event === "problem") {
          set({ connected: true, problem: data as Following["problem"] });
        } else if (event === "status") {
          set({ connected: true });
          client.setQueryData(resourceKey("status", entity), data);
          for (const of of ["object", "history"]) {
            void client.invalidateQueries({ queryKey: resourceKey(of, entity) });
          }
        }
      }
    };
    let open: AbortController | undefined;
    const change = () => {
      open?.abort();
      set({ connected: false });
      if (document.visibilityState === "visible") {
        open = new AbortController();
        void followStream(at, open.signal, take, () => set({ connected: false }));
      }
    };
    change();
    document.addEventListener("visibilitychange", change);
    return () => {
      document.removeEventListener("visibilitychange", change);
      open?.abort();
      set({ connected: false });
    };
    // The entity itself is loaded again and again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, at]);
}

// followStream reads a stream and opens it again when it ends. onLost is called when it cannot be read.
async function followStream(at: string, signal: AbortSignal, take: (frames: Frame[]) => void, onLost: () => void): Promise<void> {
  let wait = 500;
  while (!signal.aborted) {
    try {
      const answer = await fetchRaw(`${at}/eventstream`, { headers: { Accept: "text/event-stream" }, signal });
      wait = 500;
      await readFrames(answer, take);
    } catch (err) {
      if (signal.aborted) {
        return;
      }
      // Also if the caller lost the permission, or the resource is gone: the page must not show the last state as the current one.
      onLost();
      if (err instanceof ApiError && [403, 404].includes(err.status)) {
        return;
      }
      wait = Math.min(wait * 2, 30_000);
    }
    await pause(wait, signal);
  }
}

// useResourceObject loads the object of a resource as its cluster has it. The owner of the object decides whether a user may
// read it, so that only the response tells; guests own nothing, and are not asked for.
export function useResourceObject(entity: Entity) {
  const { guest } = useSession();
  const access = usePermission("cluster.resource.read");
  const denied = guest && access.known && !access.allowed ? access.reason : undefined;
  const query = useQuery({
    queryKey: resourceKey("object", entity),
    queryFn: ({ signal }) => fetchJson<{ cluster: string; object: ClusterManifest }>(`${resourcePath(entity)}/object`, { signal }),
    enabled: hasObject(entity) && (!guest || access.allowed),
    refetchInterval: ({ state }) => (state.error ? false : calm),
    retry: false,
  });
  return { ...query, denied };
}

// ClusterManifest is an object of a cluster. It is untrusted: check every value.
export type ClusterManifest = { [key: string]: unknown };

// useResourceHistory loads what tasks have done to a resource.
export function useResourceHistory(entity: Entity) {
  return useQuery({
    queryKey: resourceKey("history", entity),
    queryFn: ({ signal }) => fetchJson<{ items: Schemas["ResourceChange"][] }>(`${resourcePath(entity)}/history`, { signal }),
    enabled: hasObject(entity),
    refetchInterval: calm,
  });
}

// fetchMoreObjects loads the children of a resource's tree after the first ones.
export async function fetchMoreObjects(entity: Entity, skip: number): Promise<Schemas["ResourceNode"]> {
  return (await fetchJson<Schemas["ResourceStatus"]>(withQuery(`${resourcePath(entity)}/status`, { skip }))).tree;
}

// isMissing reports whether a resource has no object in a cluster.
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function conditionOf({ type, status, reason = "", message, lastTransitionTime }: Schemas["Condition"]): Condition {
  const state: State = status === "True" || status === "False" ? status : "Unknown";
  return { type, state, reason, message, since: lastTransitionTime };
}

// annotationFields returns the fields of an annotation in all spellings.
export function annotationFields(key: string): string[] {
  return spellings(key).map((name) => `metadata.annotations.${name}`);
}

const familyFields = [
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.title",
  "metadata.description",
  "spec.type",
  ...[annotations.xrdName, annotations.purpose, "composer.io/xrd-version"].flatMap(annotationFields),
];

// most is the maximum number of entities of a definition: each served version has a few.
const most = 200;

// useDefinitionEntities loads the entities generated from a definition, except resources, of which there may be thousands.
export function useDefinitionEntities(definition: string) {
  return useQuery({
    queryKey: ["family", definition],
    queryFn: async ({ signal }) => {
      const of = { $any: annotationFields(annotations.xrdName).map((field) => ({ [field]: definition })) };
      const what = {
        $any: [{ kind: { $in: ["template", "api"] } }, { "spec.type": { $in: ["composer-xrd", "crossplane-xrd"] } }],
      };
      const answer = await fetchJson<{ items: EntityPart[] }>("/api/catalog/entities/by-query", {
        json: { limit: most, fields: familyFields, query: { $all: [of, what] } },
        signal,
      });
      return answer.items;
    },
    enabled: definition !== "",
    staleTime: 30_000,
  });
}

// definitionOf returns the name of the definition that an entity was generated from, or an empty string.
export function definitionOf(entity: EntityPart): string {
  return annotation(entity, annotations.xrdName);
}

// versionOf returns the version of that definition.
export function versionOf(entity: EntityPart): string {
  return annotation(entity, "composer.io/xrd-version");
}

// purposeOf returns the purpose of a Template; the default is create.
export function purposeOf(entity: EntityPart): string {
  return annotation(entity, annotations.purpose) || "create";
}
