import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import { annotations, spellings } from "../api/entity";
import type { EntityPage, EntityPart } from "../api/types";
import type { FacetValue } from "../components/Facet";
import { columns, facetNames, facets, isFolded, predicate, readiness, stale, type CatalogFilter, type FacetName } from "./filter";

// pageSize is the number of rows per request.
export const pageSize = 100;

// The fields that the table shows: whole Templates can be very large.
const fields = [
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.title",
  "metadata.description",
  "metadata.tags",
  "spec.type",
  readiness,
  "spec.readinessSince",
  "spec.owner",
  "spec.system",
  ...[annotations.discoveredFrom, annotations.stale, annotations.xrdName, annotations.purpose].flatMap(spellings).map((key) => `metadata.annotations.${key}`),
];

// body returns the request body for one page.
function body(filter: CatalogFilter, page: number) {
  return {
    limit: pageSize,
    offset: page * pageSize,
    fields,
    orderBy: [{ field: columns[filter.sort], order: filter.descending ? "desc" : "asc" }],
    query: predicate(filter),
    fullTextFilter: search(filter),
  };
}

function search(filter: CatalogFilter) {
  const term = filter.text.trim();
  return term === "" ? undefined : { term };
}

// queryKeyOf returns the cache key of a filter.
function queryKeyOf(filter: CatalogFilter) {
  return ["catalog", filter.text.trim(), filter.chosen, filter.mine && filter.own, isFolded(filter) && filter.older, filter.sort, filter.descending] as const;
}

function pageQuery(filter: CatalogFilter, page: number) {
  return {
    queryKey: [...queryKeyOf(filter), page],
    queryFn: ({ signal }: { signal: AbortSignal }) => fetchJson<EntityPage>("/api/catalog/entities/by-query", { json: body(filter, page), signal }),
    // Pages out of sight are dropped soon: a hundred thousand rows do not stay in memory.
    gcTime: 30_000,
  };
}

// useFirst loads the first page, which includes the total. The previous data stays until the response arrives.
export function useFirst(filter: CatalogFilter) {
  return useQuery({ ...pageQuery(filter, 0), placeholderData: keepPreviousData, refetchInterval: 30_000 });
}

// Rows are the loaded rows: at returns the one at an index, or undefined while it loads.
export type Rows = { at: (index: number) => EntityPart | undefined; pages: EntityPart[][] };

// useRows loads the rows between first and last.
export function useRows(filter: CatalogFilter, first: number, last: number): Rows {
  const from = Math.floor(Math.max(first, 0) / pageSize);
  const to = Math.floor(Math.max(last, 0) / pageSize);
  const pages = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return useQueries({
    queries: pages.map((page) => pageQuery(filter, page)),
    combine: (results) => ({
      at: (index: number) => results[Math.floor(index / pageSize) - from]?.data?.items[index % pageSize],
      pages: results.flatMap((r) => (r.data ? [r.data.items] : [])),
    }),
  });
}

type Counted = { facets: Record<string, FacetValue[]> };

// useFacets counts the values of every facet, each without its own selection.
export function useFacets(filter: CatalogFilter): { values: (name: FacetName) => FacetValue[] | undefined; failed: boolean } {
  // Facets that are counted in the same way are counted in one request.
  const groups = new Map<string, { names: FacetName[]; query: Record<string, unknown> | undefined }>();
  for (const name of facetNames) {
    const query = predicate(filter, name);
    const key = JSON.stringify(query ?? null);
    const group = groups.get(key) ?? { names: [] as FacetName[], query };
    group.names.push(name);
    groups.set(key, group);
  }
  const asked: { names: FacetName[]; query: Record<string, unknown> | undefined }[] = [
    ...groups.values(),
    // The last one counts what of the status is stale.
    { names: ["status"], query: { $all: [...(predicate(filter, "status")?.$all ?? []), stale] } },
  ];
  return useQueries({
    queries: asked.map(({ names, query }) => ({
      queryKey: ["facets", filter.text.trim(), names, query ?? null],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        fetchJson<Counted>("/api/catalog/entity-facets", {
          json: { facets: names.flatMap((name) => facets[name].fields), query, fullTextFilter: search(filter) },
          signal,
        }),
      enabled: names.length > 0,
      placeholderData: keepPreviousData,
    })),
    combine: (results) => ({
      failed: results.some((r) => r.isError),
      values: (name: FacetName) => {
        const at = asked.findIndex((a) => a.names.includes(name));
        const data = results[at]?.data;
        const counted = data && merge(facets[name].fields.map((field) => data.facets[field] ?? []));
        if (name !== "status" || !counted) {
          return counted;
        }
        const last = results.at(-1)?.data;
        return last && shownStatus(counted, last.facets[readiness] ?? []);
      },
    }),
  });
}

// shownStatus counts the values of the status as the table shows them: those of stale entities are unknown.
export function shownStatus(all: FacetValue[], ofStale: FacetValue[]): FacetValue[] {
  const known = all
    .filter((v) => v.value !== "unknown")
    .map((v) => ({ value: v.value, count: v.count - (ofStale.find((s) => s.value === v.value)?.count ?? 0) }))
    .filter((v) => v.count > 0);
  const total = (values: FacetValue[]) => values.reduce((sum, v) => sum + v.count, 0);
  const unknown = total(all) - total(known);
  return unknown > 0 ? [...known, { value: "unknown", count: unknown }] : known;
}

// merge adds up the counts of fields with the same meaning.
export function merge(lists: FacetValue[][]): FacetValue[] {
  const counts = new Map<string, number>();
  for (const { value, count } of lists.flat()) {
    counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return [...counts].map(([value, count]) => ({ value, count }));
}
