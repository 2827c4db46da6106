import { useQuery } from "@tanstack/react-query";
import { ApiError, ask, path } from "../api/client";
import { annotation, annotations, spellings, type Ref } from "../api/entity";
import type { Entity, EntityPart, Schemas } from "../api/types";
import { conditionsOf, inOrder, readinessOf, type Condition, type State } from "./facts";

// How often an entity is asked for again: while somebody watches it come up, and otherwise.
export const live = 3_000;
const calm = 15_000;

// useEntity asks for an entity, and again from time to time.
export function useEntity(ref: Ref, watching: boolean) {
  return useQuery({
    queryKey: ["entity", ref.kind.toLowerCase(), ref.namespace.toLowerCase(), ref.name.toLowerCase()],
    queryFn: ({ signal }) => ask<Entity>(path("/api/catalog/entities/by-name", ref.kind, ref.namespace, ref.name), { signal }),
    refetchInterval: (query) => (watching || isComing(query.state.data) ? live : calm),
  });
}

// isComing says whether something is likely to change soon: a resource that is not ready.
function isComing(entity: Entity | undefined): boolean {
  const readiness = entity && readinessOf(entity);
  return readiness !== undefined && readiness !== "ready";
}

// useConditions asks how the object behind a resource fares, again every few seconds. Until the answer comes, and where
// there is none, it is what the entity says.
export function useConditions(entity: Entity): Condition[] {
  const { namespace = "default", name } = entity.metadata;
  const { data } = useQuery({
    queryKey: ["conditions", namespace, entity.kind, name],
    queryFn: ({ signal }) => ask<{ items: Schemas["Condition"][] }>(path("/api/composer-ingestor/conditions", entity.kind, namespace, name), { signal }),
    // Behind some there is nothing to ask for.
    refetchInterval: ({ state }) => (state.error instanceof ApiError && state.error.status === 404 ? false : live),
    retry: false,
  });
  return data ? inOrder(data.items.map(conditionOf)) : conditionsOf(entity);
}

function conditionOf({ type, status, reason = "", message, lastTransitionTime }: Schemas["Condition"]): Condition {
  const state: State = status === "True" || status === "False" ? status : "Unknown";
  return { type, state, reason, message, since: lastTransitionTime };
}

// useMissing asks which of some references lead nowhere.
export function useMissing(refs: string[]): Set<string> {
  const asked = [...new Set(refs)].sort();
  const { data } = useQuery({
    queryKey: ["missing", asked],
    queryFn: async ({ signal }) => {
      const answer = await ask<{ items: (EntityPart | null)[] }>("/api/catalog/entities/by-refs", { json: { entityRefs: asked, fields: ["kind"] }, signal });
      return asked.filter((_, i) => answer.items[i] === null);
    },
    enabled: asked.length > 0,
    staleTime: 30_000,
  });
  return new Set(data);
}

// annotationFields are the fields of an annotation, under each of its names.
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

// most is how many entities of a definition are looked at: each served version has a few.
const most = 200;

// useFamily asks for what was made of a definition, without its resources, of which there may be thousands.
export function useFamily(definition: string) {
  return useQuery({
    queryKey: ["family", definition],
    queryFn: async ({ signal }) => {
      const of = { $any: annotationFields(annotations.xrdName).map((field) => ({ [field]: definition })) };
      const what = {
        $any: [{ kind: { $in: ["template", "api"] } }, { "spec.type": { $in: ["composer-xrd", "crossplane-xrd"] } }],
      };
      const answer = await ask<{ items: EntityPart[] }>("/api/catalog/entities/by-query", {
        json: { limit: most, fields: familyFields, query: { $all: [of, what] } },
        signal,
      });
      return answer.items;
    },
    enabled: definition !== "",
    staleTime: 30_000,
  });
}

// definitionOf is the name of the definition that an entity was made of; empty if it was made of none.
export function definitionOf(entity: EntityPart): string {
  return annotation(entity, annotations.xrdName);
}

// versionOf is the version of that definition.
export function versionOf(entity: EntityPart): string {
  return annotation(entity, "composer.io/xrd-version");
}

// purposeOf is what a Template is for. One that does not say creates.
export function purposeOf(entity: EntityPart): string {
  return annotation(entity, annotations.purpose) || "create";
}
