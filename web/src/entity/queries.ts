import { useQuery } from "@tanstack/react-query";
import { ask, path } from "../api/client";
import { annotation, annotations, spellings, type Ref } from "../api/entity";
import type { Entity, EntityPart } from "../api/types";
import { madeOf, readinessOf } from "./facts";

// How often an entity is asked for again: while somebody watches it come up, and otherwise.
export const live = 3_000;
const calm = 30_000;

// useEntity asks for an entity, and again from time to time.
export function useEntity(ref: Ref, watching: boolean) {
  return useQuery({
    queryKey: ["entity", ref.kind.toLowerCase(), ref.namespace.toLowerCase(), ref.name.toLowerCase()],
    queryFn: ({ signal }) => ask<Entity>(path("/api/catalog/entities/by-name", ref.kind, ref.namespace, ref.name), { signal }),
    refetchInterval: (q) => (watching || comingUp(q.state.data) ? live : calm),
  });
}

// comingUp says that something may become ready any moment.
function comingUp(entity: Entity | undefined): boolean {
  return entity !== undefined && madeOf(entity) === "resource" && readinessOf(entity) !== "ready";
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
