import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { ask } from "../api/client";
import { annotations, spellings } from "../api/entity";
import type { EntityPage, EntityPart } from "../api/types";
import type { FacetValue } from "../parts/Facet";
import { columns, facetNames, facets, predicate, type Choice, type FacetName } from "./choice";

// pageSize is how many rows are asked for at once.
export const pageSize = 100;

// What the table shows of an entity, and nothing else: a Template can be very long.
const fields = [
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.title",
  "metadata.description",
  "metadata.tags",
  "spec.type",
  "spec.owner",
  "spec.system",
  ...[annotations.discoveredFrom, annotations.stale].flatMap(spellings).map((key) => `metadata.annotations.${key}`),
];

// body is the question for one page.
function body(choice: Choice, page: number) {
  return {
    limit: pageSize,
    offset: page * pageSize,
    fields,
    orderBy: [{ field: columns[choice.sort], order: choice.descending ? "desc" : "asc" }],
    query: predicate(choice),
    fullTextFilter: search(choice),
  };
}

function search(choice: Choice) {
  const term = choice.text.trim();
  return term === "" ? undefined : { term };
}

// The key of what a choice brings: facets are no part of each other's.
function keyOf(choice: Choice) {
  return ["catalog", choice.text.trim(), choice.chosen, choice.sort, choice.descending] as const;
}

function pageQuery(choice: Choice, page: number) {
  return {
    queryKey: [...keyOf(choice), page],
    queryFn: ({ signal }: { signal: AbortSignal }) => ask<EntityPage>("/api/catalog/entities/by-query", { json: body(choice, page), signal }),
    // Pages that were scrolled away are forgotten soon: a hundred thousand rows do not stay in memory.
    gcTime: 30_000,
  };
}

// useFirst asks for the first page, which also says how many rows there are. What was there before stays until the answer
// comes.
export function useFirst(choice: Choice) {
  return useQuery({ ...pageQuery(choice, 0), placeholderData: keepPreviousData, refetchInterval: 30_000 });
}

// useRows returns the row at an index, for those between first and last; undefined while it is on its way.
export function useRows(choice: Choice, first: number, last: number): (index: number) => EntityPart | undefined {
  const from = Math.floor(Math.max(first, 0) / pageSize);
  const to = Math.floor(Math.max(last, 0) / pageSize);
  const pages = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return useQueries({
    queries: pages.map((page) => pageQuery(choice, page)),
    combine: (results) => (index: number) => results[Math.floor(index / pageSize) - from]?.data?.items[index % pageSize],
  });
}

type Counted = { facets: Record<string, FacetValue[]> };

// useFacets counts the values of every facet, each as if nothing of it were chosen.
export function useFacets(choice: Choice): { values: (name: FacetName) => FacetValue[] | undefined; failed: boolean } {
  const chosen = facetNames.filter((name) => choice.chosen[name].length > 0);
  const rest = facetNames.filter((name) => choice.chosen[name].length === 0);
  const asked: { names: FacetName[]; without?: FacetName }[] = [{ names: rest }, ...chosen.map((name) => ({ names: [name], without: name }))];
  return useQueries({
    queries: asked.map(({ names, without }) => ({
      queryKey: ["facets", choice.text.trim(), names, predicate(choice, without) ?? null],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask<Counted>("/api/catalog/entity-facets", {
          json: { facets: names.flatMap((name) => facets[name].fields), query: predicate(choice, without), fullTextFilter: search(choice) },
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
        return data && merge(facets[name].fields.map((field) => data.facets[field] ?? []));
      },
    }),
  });
}

// merge adds up the values of fields that mean the same.
export function merge(lists: FacetValue[][]): FacetValue[] {
  const counts = new Map<string, number>();
  for (const { value, count } of lists.flat()) {
    counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return [...counts].map(([value, count]) => ({ value, count }));
}
