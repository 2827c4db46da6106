import { useInfiniteQuery, useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { fetchJson, path, withQuery } from "../api/client";
import { annotation, annotations, spellings } from "../api/entity";
import type { EntityPage, EntityPart, Explanation, Findings, IngestionHealth, NamedDefinitions, Run } from "../api/types";

export type Source = NonNullable<IngestionHealth["sources"]>[number];
export type State = Source["state"];

const base = "/api/composer-ingestor";

// refreshInterval is how often the page refreshes, in milliseconds: an outage shows within seconds.
const refreshInterval = 3_000;

export function useHealth() {
  return useQuery({
    queryKey: ["ingestion", "health"],
    queryFn: ({ signal }) => fetchJson<IngestionHealth>(`${base}/health`, { signal }),
    refetchInterval: refreshInterval,
    staleTime: 0,
  });
}

export function useRuns(enabled: boolean) {
  return useQuery({
    queryKey: ["ingestion", "runs"],
    queryFn: async ({ signal }) => (await fetchJson<{ items: Run[] }>(withQuery(`${base}/runs`, { limit: 200 }), { signal })).items,
    refetchInterval: refreshInterval,
    staleTime: 0,
    enabled,
  });
}

// useRun loads a run with its changes. A finished run does not change.
export function useRun(id: string | undefined) {
  return useQuery({
    queryKey: ["ingestion", "run", id],
    queryFn: ({ signal }) => fetchJson<Run>(path(`${base}/runs`, id ?? ""), { signal }),
    enabled: id !== undefined,
    staleTime: Infinity,
  });
}

// useConfirm confirms the pending removal of a source.
export function useConfirm() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (source: Source) => fetchJson(`${base}/removals/confirm`, { json: { source: source.name, since: source.pendingRemoval?.since } }),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["ingestion"] }),
  });
}

// useRunNow requests a scan of all sources or of the given ones.
export function useRunNow() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (sources: string[] | undefined) => {
      const asked = (sources ?? [undefined]).map((source) => fetchJson<{ sources: string[] }>(`${base}/runs`, { json: source === undefined ? {} : { source } }));
      return (await Promise.all(asked)).flatMap((answer) => answer.sources);
    },
    onSuccess: () => {
      // The new run appears with one of the next refreshes.
      void queries.invalidateQueries({ queryKey: ["ingestion", "runs"] });
    },
  });
}

export type Finding = Findings["items"][number];
export type Rule = Findings["rules"][number];
export type Severity = Rule["severity"];

// FindingFilter selects findings.
export type FindingFilter = { severity?: string; cluster?: string; definition?: string };

// useRules loads the number of findings per rule. version is any value that changes with the findings.
export function useRules(filter: FindingFilter, version: string) {
  return useQuery({
    queryKey: ["ingestion", "findings", filter, version],
    queryFn: ({ signal }) => fetchJson<Findings>(withQuery(`${base}/findings`, { ...filter, limit: 0 }), { signal }),
    // Changed definitions are checked a moment later.
    refetchInterval: (query) => ((query.state.data?.pending ?? 0) > 0 ? refreshInterval : 5 * refreshInterval),
    placeholderData: (before) => before,
  });
}

// useFindingCounts loads the number of findings of each cluster.
export function useFindingCounts(clusters: string[]): Map<string, number> {
  return useQueries({
    queries: clusters.map((cluster) => ({
      queryKey: ["ingestion", "findings", "count", cluster],
      queryFn: async ({ signal }: { signal: AbortSignal }) => (await fetchJson<Findings>(withQuery(`${base}/findings`, { cluster, limit: 0 }), { signal })).totalItems,
      refetchInterval: 5 * refreshInterval,
    })),
    combine: (results) => new Map(clusters.flatMap((cluster, i) => (results[i]?.data === undefined ? [] : [[cluster, results[i].data] as const]))),
  });
}

const page = 50;

// useFindings loads the findings of a rule page by page.
export function useFindings(filter: FindingFilter, rule: Rule, enabled: boolean) {
  return useInfiniteQuery({
    queryKey: ["ingestion", "findings", filter, rule.rule, rule.findings],
    queryFn: ({ signal, pageParam }) => fetchJson<Findings>(withQuery(`${base}/findings`, { ...filter, rule: rule.rule, limit: page, offset: pageParam }), { signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.items.length === page ? pages.length * page : undefined),
    enabled,
    placeholderData: (before) => before,
  });
}

export function useExplanation(definition: string) {
  return useQuery({
    queryKey: ["ingestion", "explain", definition],
    queryFn: ({ signal }) => fetchJson<Explanation>(path(`${base}/explain`, definition), { signal }),
    enabled: definition !== "",
  });
}

// DefinitionFilter selects definitions.
export type DefinitionFilter = { text?: string; cluster?: string; only?: string };

export type Named = NamedDefinitions["items"][number];

// useDefinitions loads the definitions of all sources by name, page by page.
export function useDefinitions(filter: DefinitionFilter, enabled: boolean) {
  return useInfiniteQuery({
    queryKey: ["ingestion", "definitions", filter],
    queryFn: ({ signal, pageParam }) => fetchJson<NamedDefinitions>(withQuery(`${base}/definitions/by-name`, { ...filter, limit: page, offset: pageParam }), { signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (pages.length * page < last.totalItems ? pages.length * page : undefined),
    enabled,
    refetchInterval: 5 * refreshInterval,
    placeholderData: (before) => before,
  });
}

// Made are the entities that stand for a definition: its form and its Resource.
export type Made = { form?: EntityPart; definition?: EntityPart };

// useMade finds what stands for a definition in the catalog.
export function useMade(name: string, enabled: boolean) {
  return useQuery({
    queryKey: ["ingestion", "made", name],
    queryFn: async ({ signal }): Promise<Made> => {
      const keys = (key: string) => spellings(key).map((k) => `metadata.annotations.${k}`);
      const of = { $any: keys(annotations.xrdName).map((key) => ({ [key]: name })) };
      const what = { $any: [{ kind: "template" }, { "spec.type": { $in: ["composer-xrd", "crossplane-xrd"] } }] };
      const fields = ["kind", "metadata.name", "metadata.namespace", ...keys(annotations.purpose)];
      const { items } = await fetchJson<EntityPage>("/api/catalog/entities/by-query", { json: { limit: page, fields, query: { $all: [of, what] } }, signal });
      return {
        form: items.find((e) => e.kind === "Template" && ["", "create"].includes(annotation(e, annotations.purpose))),
        definition: items.find((e) => e.kind === "Resource"),
      };
    },
    enabled,
    staleTime: 15_000,
  });
}
