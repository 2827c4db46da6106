import { useQuery } from "@tanstack/react-query";
import { fetchJson, withQuery } from "../api/client";
import { annotation, annotations, formatRef, refOf, spellings, summaryFields } from "../api/entity";
import type { EntityPage, EntityPart, Schemas } from "../api/types";
import { parseFilter, predicate } from "../catalog/filter";

// useResources loads the resources that changed their status last: those of the user, or all if the user owns none.
// search is the filter of the catalog that shows all of them.
export function useResources(search: string, own: string[], limit: number) {
  const filter = parseFilter(new URLSearchParams(search), own);
  return useQuery({
    queryKey: ["home", "resources", search, own, limit],
    queryFn: ({ signal }) =>
      fetchJson<EntityPage>("/api/catalog/entities/by-query", {
        json: { limit, fields: summaryFields, query: { $all: [{ "spec.readiness": { $exists: true } }, ...(predicate({ ...filter, all: true })?.$all ?? [])] }, orderBy: [{ field: "spec.readinessSince", order: "desc" }] },
        signal,
      }),
    refetchInterval: 15_000,
  });
}

// Change is an entity that was created or changed lately.
export type Change = Schemas["RecentChange"];

// useRecentChanges loads what changed last. The parts of a product change with it, so only the product is listed.
export function useRecentChanges(limit: number) {
  return useQuery({
    queryKey: ["home", "recent", limit],
    queryFn: async ({ signal }) => (await fetchJson<{ items: Change[] }>(withQuery("/api/catalog/recent", { limit, query: JSON.stringify(predicate(parseFilter(new URLSearchParams()))) }), { signal })).items,
    refetchInterval: 30_000,
  });
}

type Usage = { items: { templateRef: string; count: number }[] };

// useTemplates loads the Templates to offer: the most used ones, then others that create something, up to limit.
export function useTemplates(limit: number) {
  return useQuery({
    queryKey: ["home", "templates", limit],
    queryFn: async ({ signal }) => {
      const used = (await fetchJson<Usage>(withQuery("/api/scaffolder/v2/templates/usage", { limit }), { signal })).items.map((u) => u.templateRef);
      const { items } = await fetchJson<{ items: (EntityPart | null)[] }>("/api/catalog/entities/by-refs", { json: { entityRefs: used, fields: summaryFields }, signal });
      const found = items.filter((e): e is EntityPart => e !== null && isCreate(e));
      if (found.length >= limit) {
        return found;
      }
      const query = { $all: [{ kind: "Template" }, ...spellings(annotations.purpose).map((key) => ({ $not: { [`metadata.annotations.${key}`]: { $in: ["update", "delete"] } } }))] };
      const others = await fetchJson<EntityPage>("/api/catalog/entities/by-query", { json: { limit: limit + found.length, fields: summaryFields, query, orderBy: [{ field: "metadata.title", order: "asc" }] }, signal });
      const known = new Set(found.map((e) => formatRef(refOf(e))));
      return [...found, ...others.items.filter((e) => !known.has(formatRef(refOf(e))))].slice(0, limit);
    },
    staleTime: 60_000,
  });
}

function isCreate(template: EntityPart): boolean {
  return ["", "create"].includes(annotation(template, annotations.purpose));
}
