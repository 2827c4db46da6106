import { useMemo, useState } from "react";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Entity } from "../../api/types";
import { fetchMoreObjects } from "../queries";
import { keyOf, type ObjectNode } from "./state";

// interval is how often further objects are loaded again; only the first ones arrive by themselves.
const interval = 30_000;

// MoreObjects is a tree with the objects that were loaded on request.
export type MoreObjects = {
  tree: ObjectNode;
  // left is the number of children of the root that are not loaded.
  left: number;
  loading: boolean;
  error: unknown;
  load: () => void;
};

// useMoreObjects loads children of the root after the first ones on request, a part at a time.
export function useMoreObjects(entity: Entity, tree: ObjectNode | undefined): MoreObjects | undefined {
  const first = tree?.children?.length ?? 0;
  const [wanted, setWanted] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["more objects", entity.metadata.namespace, entity.kind, entity.metadata.name, first],
    queryFn: ({ pageParam }) => fetchMoreObjects(entity, pageParam),
    initialPageParam: first,
    getNextPageParam: (last, _, skip) => (last.more && last.children?.length ? skip + last.children.length : undefined),
    enabled: wanted && (tree?.more ?? 0) > 0,
    refetchInterval: interval,
    retry: false,
  });
  const pages = tree?.more ? query.data?.pages : undefined;
  const all = useMemo(() => tree && withChildren(tree, pages ?? []), [tree, pages]);
  if (!all) {
    return undefined;
  }
  return {
    tree: all,
    left: all.more ?? 0,
    loading: query.isFetching && (query.isFetchingNextPage || !query.data),
    error: query.error,
    load: () => {
      setWanted(true);
      if (query.data && query.hasNextPage) {
        void query.fetchNextPage();
      } else if (query.error) {
        void query.refetch();
      }
    },
  };
}

// withChildren appends the children of further parts to those of a tree. A part may repeat some if objects were added or
// removed in between.
export function withChildren(tree: ObjectNode, parts: ObjectNode[]): ObjectNode {
  const last = parts.at(-1);
  if (!last) {
    return tree;
  }
  const children = [...(tree.children ?? [])];
  const known = new Set(children.map((c) => keyOf(c.ref)));
  for (const child of parts.flatMap((p) => p.children ?? [])) {
    const key = keyOf(child.ref);
    if (!known.has(key)) {
      known.add(key);
      children.push(child);
    }
  }
  return { ...tree, children, more: last.more };
}
