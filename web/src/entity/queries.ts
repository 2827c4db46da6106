import { useQuery } from "@tanstack/react-query";
import { ApiError, fetchJson, path } from "../api/client";
import { annotation, annotations, spellings, type Ref } from "../api/entity";
import type { Entity, EntityPart, Schemas } from "../api/types";
import { conditionsOf, inOrder, readinessOf, type Condition, type State } from "./facts";

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
  const readiness = entity && readinessOf(entity);
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

// useResourceStatus loads what a resource consists of, and why it is not ready, every few seconds.
export function useResourceStatus(entity: Entity) {
  const { namespace = "default", name } = entity.metadata;
  return useQuery({
    queryKey: ["status", namespace, entity.kind, name],
    queryFn: ({ signal }) => fetchJson<Schemas["ResourceStatus"]>(`${path("/api/resources/by-name", entity.kind, namespace, name)}/status`, { signal }),
    // A resource from a folder has no cluster.
    enabled: annotation(entity, annotations.discoveredFrom) !== "",
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : state.data?.ready ? calm : live),
    retry: false,
  });
}

// isMissing reports whether a resource has no object in a cluster.
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function conditionOf({ type, status, reason = "", message, lastTransitionTime }: Schemas["Condition"]): Condition {
  const state: State = status === "True" || status === "False" ? status : "Unknown";
  return { type, state, reason, message, since: lastTransitionTime };
}

// useMissing returns which references do not exist in the catalog.
export function useMissing(refs: string[]): Set<string> {
  const asked = [...new Set(refs)].sort();
  const { data } = useQuery({
    queryKey: ["missing", asked],
    queryFn: async ({ signal }) => {
      const answer = await fetchJson<{ items: (EntityPart | null)[] }>("/api/catalog/entities/by-refs", { json: { entityRefs: asked, fields: ["kind"] }, signal });
      return asked.filter((_, i) => answer.items[i] === null);
    },
    enabled: asked.length > 0,
    staleTime: 30_000,
  });
  return new Set(data);
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
