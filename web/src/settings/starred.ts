import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import { summaryFields } from "../api/entity";
import type { EntityPart } from "../api/types";
import { useStars } from "./stars";

// useStarred loads the starred entities that exist and that the user may see.
export function useStarred(enabled = true): EntityPart[] | undefined {
  const { refs, known } = useStars();
  const { data } = useQuery({
    queryKey: ["starred", refs],
    queryFn: async ({ signal }) => {
      if (refs.length === 0) {
        return [];
      }
      const { items } = await fetchJson<{ items: (EntityPart | null)[] }>("/api/catalog/entities/by-refs", { json: { entityRefs: refs, fields: summaryFields }, signal });
      return items.filter((e): e is EntityPart => e !== null);
    },
    enabled: enabled && known,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  return data;
}
