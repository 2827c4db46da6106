import { useQuery } from "@tanstack/react-query";
import { fetchJson, path, withQuery } from "../../api/client";
import type { Ref } from "../../api/entity";
import type { Schemas } from "../../api/types";

export type Versions = Schemas["DefinitionVersions"];
export type Usage = Schemas["VersionUsage"];

const staleTime = 60_000;

function versionsPath({ kind, namespace, name }: Ref): string {
  return path("/api/composer-ingestor/versions", kind, namespace, name);
}

// useVersions loads the versions of the definition behind an entity. With two of them, it also loads the changes between
// them.
export function useVersions(ref: Ref, between?: { from: string; to: string }) {
  return useQuery({
    queryKey: ["versions", ref, between],
    queryFn: ({ signal }) => fetchJson<Versions>(withQuery(versionsPath(ref), { ...between }), { signal }),
    staleTime,
  });
}

// useUsage counts the resources of a definition by version. The server reads clusters for that: it is asked only once.
export function useUsage(ref: Ref, enabled: boolean) {
  return useQuery({
    queryKey: ["version-usage", ref],
    queryFn: ({ signal }) => fetchJson<Usage>(`${versionsPath(ref)}/resources`, { signal }),
    enabled,
    staleTime,
    refetchOnWindowFocus: false,
    retry: false,
  });
}
