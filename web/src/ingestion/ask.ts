import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ask, path, withQuery } from "../api/client";
import type { Explanation, IngestionHealth, Run } from "../api/types";

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

// useRunNow has sources scanned: all, or the one that is named.
export function useRunNow() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (source: string | undefined) => ask<{ sources: string[] }>(`${base}/runs`, { json: source === undefined ? {} : { source } }),
    onSuccess: () => {
      // It takes a moment; what it brought comes with the next looks.
      void queries.invalidateQueries({ queryKey: ["ingestion"] });
    },
  });
}

export function explain(definition: string, signal?: AbortSignal): Promise<Explanation> {
  return ask<Explanation>(path(`${base}/explain`, definition), { signal });
}

export function useExplanation(definition: string) {
  return useQuery({
    queryKey: ["ingestion", "explain", definition],
    queryFn: ({ signal }) => explain(definition, signal),
    enabled: definition !== "",
  });
}
