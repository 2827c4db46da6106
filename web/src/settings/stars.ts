import { useCallback } from "react";
import { useSetting } from "./settings";

// parseRefs returns the references in a stored value.
function parseRefs(stored: unknown): string[] {
  return Array.isArray(stored) ? stored.filter((ref): ref is string => typeof ref === "string") : [];
}

export type Stars = { refs: string[]; known: boolean; isStarred: (ref: string) => boolean; toggle: (ref: string) => void; error?: Error };

// useStars returns the entities that the user starred. Backstage keeps them under the same key.
export function useStars(): Stars {
  const { value: refs, known, set, error } = useSetting("starredEntities", "entityRefs", parseRefs);
  const isStarred = useCallback((ref: string) => refs.includes(ref), [refs]);
  return { refs, known, isStarred, toggle: (ref) => set(refs.includes(ref) ? refs.filter((r) => r !== ref) : [...refs, ref]), error };
}
