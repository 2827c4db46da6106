import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import { annotations, spellings, summaryFields } from "../api/entity";
import type { EntityPage, EntityPart } from "../api/types";
import type { FacetValue } from "../components/Facet";
import { columns, facetNames, facets, isFolded, predicate, readiness, stale, unfolding, type CatalogFilter, type FacetName } from "./filter";

// pageSize is the number of rows per request.
export const pageSize = 100;

// The fields that the table shows.
const fields = [...summaryFields, "spec.system", ...spellings(annotations.xrdName).map((key) => `metadata.annotations.${key}`)];

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

type Count = { value: string; count: number };

type Counted = { facets: Record<string, Count[]> };

// useFacets counts the values of every facet, each without its own selection, in what the table shows. Values that only
// parts of products have can be chosen too, as that unfolds the table; they have no count.
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
    { names: isFolded(filter) ? unfolding : [], query: predicate({ ...filter, all: true }) },
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
        const count = (data?: Counted) => data && merge(facets[name].fields.map((field) => data.facets[field] ?? []));
        const counted = count(results[asked.findIndex((a) => a.names.includes(name))]?.data);
        if (counted && name === "status") {
          const last = results.at(-1)?.data;
          return last && shownStatus(counted, last.facets[readiness] ?? []);
        }
        const unfolded = asked.at(-2)?.names.includes(name) ? count(results.at(-2)?.data) : undefined;
        return counted && unfolded ? withParts(counted, unfolded) : counted;
      },
    }),
  });
}

// withParts adds the values that only parts of products have, without a count. The order is that of the unfolded table, so
// that values keep their place when it is unfolded.
export function withParts(counted: Count[], unfolded: Count[]): FacetValue[] {
  return unfolded.map(({ value, count }) => ({ value, count: counted.find((v) => v.value === value)?.count, rank: count }));
}

// shownStatus counts the values of the status as the table shows them: those of stale entities are unknown.
export function shownStatus(all: Count[], ofStale: Count[]): Count[] {
  const known = all
    .filter((v) => v.value !== "unknown")
    .map((v) => ({ value: v.value, count: v.count - (ofStale.find((s) => s.value === v.value)?.count ?? 0) }))
    .filter((v) => v.count > 0);
  const total = (values: Count[]) => values.reduce((sum, v) => sum + v.count, 0);
  const unknown = total(all) - total(known);
  return unknown > 0 ? [...known, { value: "unknown", count: unknown }] : known;
}

// merge adds up the counts of fields with the same meaning.
export function merge(lists: Count[][]): Count[] {
  const counts = new Map<string, number>();
  for (const { value, count } of lists.flat()) {
    counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return [...counts].map(([value, count]) => ({ value, count }));
}
