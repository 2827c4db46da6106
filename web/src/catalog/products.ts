import { useQueries, useQuery } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import { annotation, annotations, spellings } from "../api/entity";
import type { EntityPage, EntityPart } from "../api/types";
import { compareVersions } from "../api/version";

// Keys of an annotation as fields of a query.
const keys = (name: string) => spellings(name).map((key) => `metadata.annotations.${key}`);

const fields = ["kind", "metadata.name", "metadata.namespace", "metadata.title", "spec.type", ...[annotations.xrdName, annotations.purpose, annotations.xrdVersion].flatMap(keys)];

// xrdOf returns the name of the XRD that an entity was made from.
export function xrdOf(entity: EntityPart): string {
  return annotation(entity, annotations.xrdName);
}

// isProduct reports whether an entity is the Template that stands for a product.
export function isProduct(entity: EntityPart): boolean {
  return entity.kind === "Template" && xrdOf(entity) !== "";
}

function byXrd(entities: EntityPart[]): Map<string, EntityPart[]> {
  const groups = new Map<string, EntityPart[]>();
  for (const entity of entities) {
    groups.set(xrdOf(entity), [...(groups.get(xrdOf(entity)) ?? []), entity]);
  }
  return groups;
}

function ofXrds(names: string[]) {
  return { $any: keys(annotations.xrdName).map((key) => ({ [key]: { $in: names } })) };
}

// useParts returns a function that returns what belongs to a product, given the rows of the pages that are shown.
export function useParts(pages: EntityPart[][]): (product: EntityPart) => EntityPart[] {
  const asked = pages.map((rows) => rows.filter(isProduct).map(xrdOf).sort()).filter((names) => names.length > 0);
  return useQueries({
    queries: asked.map((names) => ({
      queryKey: ["parts", names],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const query = { $all: [ofXrds(names), { $any: [{ kind: "API" }, { "spec.type": { $in: ["crossplane-xrd", "composer-xrd"] } }] }] };
        const { items } = await fetchJson<EntityPage>("/api/catalog/entities/by-query", { json: { limit: 1000, fields, query }, signal });
        return byXrd(items);
      },
      staleTime: 60_000,
    })),
    combine: (results) => (product: EntityPart) => results.map((r) => r.data?.get(xrdOf(product))).find((found) => found !== undefined) ?? [],
  });
}

// useOlderVersions returns the names of the Templates that stand for an older version of a product. Only XRDs with several
// versions have them, and only as Templates without a purpose.
export function useOlderVersions(enabled: boolean): string[] {
  const { data } = useQuery({ queryKey: ["older-versions"], queryFn: ({ signal }) => fetchOlderVersions(signal), staleTime: 5 * 60_000, enabled });
  return data ?? none;
}

const none: string[] = [];

async function fetchOlderVersions(signal: AbortSignal): Promise<string[]> {
  const withoutPurpose = { $all: [{ kind: "Template" }, ...keys(annotations.purpose).map((key) => ({ [key]: { $exists: false } }))] };
  const facets = keys(annotations.xrdName);
  const counted = await fetchJson<{ facets: Record<string, { value: string; count: number }[]> }>("/api/catalog/entity-facets", { json: { facets, query: withoutPurpose }, signal });
  const several = facets.flatMap((key) => counted.facets[key] ?? []).filter((v) => v.count > 1);
  if (several.length === 0) {
    return none;
  }
  const query = { $all: [...withoutPurpose.$all, ofXrds(several.map((v) => v.value))] };
  const { items } = await fetchJson<EntityPage>("/api/catalog/entities/by-query", { json: { limit: 1000, fields, query }, signal });
  return [...byXrd(items).values()].flatMap(olderOf).map((t) => t.metadata?.name ?? "");
}

// olderOf returns all of the Templates of one XRD but the newest.
export function olderOf(templates: EntityPart[]): EntityPart[] {
  const version = (t: EntityPart) => annotation(t, annotations.xrdVersion);
  return [...templates].sort((a, b) => compareVersions(version(b), version(a))).slice(1);
}
