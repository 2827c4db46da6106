import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ask, path, withQuery } from "../api/client";
import type { Explanation, Findings, IngestionHealth, Run } from "../api/types";

export type Source = NonNullable<IngestionHealth["sources"]>[number];
export type State = Source["state"];

const base = "/api/composer-ingestor";

// How often the page looks: an outage is to be seen within seconds.
const often = 3_000;

export function useHealth() {
  return useQuery({
    queryKey: ["ingestion", "health"],
    queryFn: ({ signal }) => ask<IngestionHealth>(`${base}/health`, { signal }),
    refetchInterval: often,
    staleTime: 0,
  });
}

export function useRuns(enabled: boolean) {
  return useQuery({
    queryKey: ["ingestion", "runs"],
    queryFn: async ({ signal }) => (await ask<{ items: Run[] }>(withQuery(`${base}/runs`, { limit: 200 }), { signal })).items,
    refetchInterval: often,
    staleTime: 0,
    enabled,
  });
}

// useRun has a run with what it changed. What a run did does not change any more.
export function useRun(id: string | undefined) {
  return useQuery({
    queryKey: ["ingestion", "run", id],
    queryFn: ({ signal }) => ask<Run>(path(`${base}/runs`, id ?? ""), { signal }),
    enabled: id !== undefined,
    staleTime: Infinity,
  });
}

// useConfirm confirms that the objects of a source that are not found any more are gone.
export function useConfirm() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (source: Source) => ask(`${base}/removals/confirm`, { json: { source: source.name, since: source.pendingRemoval?.since } }),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["ingestion"] }),
  });
}

// useRunNow has sources scanned: all, or those that are named.
export function useRunNow() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (sources: string[] | undefined) => {
      const asked = (sources ?? [undefined]).map((source) => ask<{ sources: string[] }>(`${base}/runs`, { json: source === undefined ? {} : { source } }));
      return (await Promise.all(asked)).flatMap((answer) => answer.sources);
    },
    onSuccess: () => {
      // It takes a moment; what it brought comes with the next looks.
      void queries.invalidateQueries({ queryKey: ["ingestion", "runs"] });
    },
  });
}

export type Finding = Findings["items"][number];
export type Rule = Findings["rules"][number];
export type Severity = Rule["severity"];

// Wanted chooses among findings.
export type Wanted = { severity?: string; cluster?: string };

// useRules has how often each rule is found. version is anything that changes when that may have.
export function useRules(want: Wanted, version: string) {
  return useQuery({
    queryKey: ["ingestion", "findings", want, version],
    queryFn: ({ signal }) => ask<Findings>(withQuery(`${base}/findings`, { ...want, limit: 0 }), { signal }),
    // Definitions are looked at a moment after they have changed.
    refetchInterval: (query) => ((query.state.data?.pending ?? 0) > 0 ? often : 5 * often),
    placeholderData: (before) => before,
  });
}

const page = 50;

// useFindings has what was found of a rule, page by page.
export function useFindings(want: Wanted, rule: Rule, enabled: boolean) {
  return useInfiniteQuery({
    queryKey: ["ingestion", "findings", want, rule.rule, rule.findings],
    queryFn: ({ signal, pageParam }) => ask<Findings>(withQuery(`${base}/findings`, { ...want, rule: rule.rule, limit: page, offset: pageParam }), { signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.items.length === page ? pages.length * page : undefined),
    enabled,
    placeholderData: (before) => before,
  });
}

export function useExplanation(definition: string) {
  return useQuery({
    queryKey: ["ingestion", "explain", definition],
    queryFn: ({ signal }) => ask<Explanation>(path(`${base}/explain`, definition), { signal }),
    enabled: definition !== "",
  });
}
