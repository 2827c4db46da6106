import { useQueries } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import { formatRef, parseRef, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";

// Titled is what a page shows of an entity that it knows by reference.
export type Titled = {
  title: string;
  // entity is what the icon depends on. Until it is loaded, and if it is not found, it has kind and name only.
  entity: EntityPart;
  // missing tells that the entity is not in the catalog, or that the user may not see it.
  missing: boolean;
};

const fields = ["kind", "metadata.name", "metadata.namespace", "metadata.title", "metadata.tags", "spec.type", "spec.profile.displayName", "metadata.annotations.composer.vendor.io/xr-kind", "metadata.annotations.crossplane.terasky.io/xr-kind"];

// most is the number of references per request.
const most = 500;

type Waiting = { ref: string; resolve: (found: EntityPart | null) => void; reject: (err: unknown) => void };

let waiting: Waiting[] = [];

// load loads an entity. All loads of one microtask are sent in one request.
function load(ref: string): Promise<EntityPart | null> {
  return new Promise((resolve, reject) => {
    waiting.push({ ref, resolve, reject });
    if (waiting.length === 1) {
      queueMicrotask(flush);
    }
  });
}

function flush() {
  const all = waiting;
  waiting = [];
  for (let i = 0; i < all.length; i += most) {
    void send(all.slice(i, i + most));
  }
}

async function send(batch: Waiting[]) {
  try {
    const answer = await fetchJson<{ items?: (EntityPart | null)[] }>("/api/catalog/entities/by-refs", { json: { entityRefs: batch.map((w) => w.ref), fields } });
    batch.forEach((w, i) => w.resolve(answer.items?.[i] ?? null));
  } catch (err) {
    batch.forEach((w) => w.reject(err));
  }
}

// shortName returns the name of a reference, with its namespace unless that is the default.
export function shortName(ref: string): string {
  const { namespace, name } = parseRef(ref);
  return namespace === "default" ? name : `${namespace}/${name}`;
}

// useTitles returns what to show for entities, given by full references. Those that several components ask for at once are
// loaded with one request, and kept. Until an entity is loaded, its title is the short name.
export function useTitles(refs: string[]): Map<string, Titled> {
  const asked = [...new Set(refs)];
  return useQueries({
    queries: asked.map((ref) => ({ queryKey: ["title", ref.toLowerCase()], queryFn: () => load(ref), staleTime: 60_000, retry: false })),
    combine: (results) => new Map(asked.map((ref, i) => [ref, titled(ref, results[i]?.data)])),
  });
}

function titled(ref: string, found: EntityPart | null | undefined): Titled {
  if (found) {
    return { title: titleOf(found) || shortName(ref), entity: found, missing: false };
  }
  const { kind, namespace, name } = parseRef(ref);
  return { title: shortName(ref), entity: { kind, metadata: { namespace, name } } as EntityPart, missing: found === null };
}

// useTitle returns what to show for one entity; without loading it if it is not needed.
export function useTitle(ref: string, needed = true): Titled {
  return useTitles(needed ? [ref] : []).get(ref) ?? titled(ref, undefined);
}

// fullRef returns a reference with kind and namespace.
export function fullRef(ref: string, defaults?: { kind?: string; namespace?: string }): string {
  return formatRef(parseRef(ref, defaults));
}
