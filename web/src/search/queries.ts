import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { fetchJson, withQuery } from "../api/client";
import type { EntityPart, Schemas, Task } from "../api/types";
import { roleOf } from "../entity/facts";
import { roleTitle } from "../entity/roles";

// Document is what the search knows about an entity.
export type Document = Schemas["SearchDocument"];

// most is the number of results that the palette shows.
const most = 12;

// useSearch searches the catalog. Small errors in words are tolerated.
export function useSearch(term: string) {
  return useQuery({
    queryKey: ["search", term],
    queryFn: ({ signal }) => fetchJson<Schemas["SearchResults"]>(withQuery("/api/search/query", { term, pageLimit: most }), { signal }),
    enabled: term !== "",
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });
}

// useRecentTasks loads the newest tasks of the user.
export function useRecentTasks(limit: number, enabled = true) {
  return useQuery({
    queryKey: ["recent-tasks", limit],
    queryFn: ({ signal }) => fetchJson<{ tasks: Task[] }>(withQuery("/api/scaffolder/v2/tasks", { limit, order: "desc:created_at" }), { signal }),
    enabled,
    staleTime: 15_000,
  });
}

// kindAndType returns the kind and the type of a document, or what an entity generated from a definition is. The type of
// entities without one is "other".
export function kindAndType(d: Document): string {
  const entity = documentEntity(d);
  if (roleOf(entity)) {
    return roleTitle(entity);
  }
  return [d.kind, d.type === "other" ? "" : d.type].filter(Boolean).join(" · ");
}

// documentEntity returns the part of an entity that a document describes, for icons and status.
export function documentEntity(d: Document): EntityPart {
  return {
    kind: d.kind,
    metadata: { name: d.name, namespace: d.namespace, title: d.title, tags: d.tags },
    spec: { type: d.type, owner: d.owner, readiness: d.readiness, readinessSince: d.readinessSince } as never,
  };
}
