import { annotations, spellings } from "../api/entity";

// FacetName is the name of a field that can be filtered by value.
export type FacetName = "kind" | "type" | "owner" | "system" | "tag" | "cluster";

type FacetOf = {
  title: string;
  // fields are the entity fields that may hold the value.
  fields: string[];
  show?: (value: string) => string;
};

// shortRef writes a reference without kind and default namespace.
export function shortRef(ref: string): string {
  return ref.replace(/^[a-z]+:/i, "").replace(/^default\//, "");
}

export const facets: Record<FacetName, FacetOf> = {
  kind: { title: "Kind", fields: ["kind"] },
  type: { title: "Type", fields: ["spec.type"] },
  owner: { title: "Owner", fields: ["relations.ownedBy"], show: shortRef },
  system: { title: "System", fields: ["spec.system"], show: shortRef },
  tag: { title: "Tags", fields: ["metadata.tags"] },
  cluster: { title: "Cluster", fields: spellings(annotations.discoveredFrom).map((key) => `metadata.annotations.${key}`) },
};

export const facetNames = Object.keys(facets) as FacetName[];

// Sortable columns and their entity fields.
export const columns = {
  name: "metadata.name",
  kind: "kind",
  type: "spec.type",
  owner: "spec.owner",
  system: "spec.system",
} as const;

export type Column = keyof typeof columns;

// CatalogFilter is the search text, the selected facet values and the order. It is stored in the URL.
export type CatalogFilter = {
  text: string;
  chosen: Record<FacetName, string[]>;
  sort: Column;
  descending: boolean;
};

export function parseFilter(params: URLSearchParams): CatalogFilter {
  const sort = params.get("sort") ?? "name";
  const known = Object.hasOwn(columns, sort);
  return {
    text: params.get("q") ?? "",
    chosen: Object.fromEntries(facetNames.map((name) => [name, params.getAll(name)])) as CatalogFilter["chosen"],
    sort: known ? (sort as Column) : "name",
    descending: known && params.get("order") === "desc",
  };
}

export function formatFilter(filter: CatalogFilter): URLSearchParams {
  const params = new URLSearchParams();
  if (filter.text !== "") {
    params.set("q", filter.text);
  }
  for (const name of facetNames) {
    for (const value of filter.chosen[name]) {
      params.append(name, value);
    }
  }
  if (filter.sort !== "name" || filter.descending) {
    params.set("sort", filter.sort);
  }
  if (filter.descending) {
    params.set("order", "desc");
  }
  return params;
}

// isFiltered reports whether a search text or facet value is set.
export function isFiltered(filter: CatalogFilter): boolean {
  return filter.text.trim() !== "" || facetNames.some((name) => filter.chosen[name].length > 0);
}

type Predicate = Record<string, unknown>;

// predicate returns the filter as a catalog query. Leaving out one facet gives the counts of its other values.
export function predicate(filter: CatalogFilter, without?: FacetName): Predicate | undefined {
  const all: Predicate[] = [];
  for (const name of facetNames) {
    const values = filter.chosen[name];
    if (name === without || values.length === 0) {
      continue;
    }
    const any = facets[name].fields.map((field) => ({ [field]: { $in: values } }));
    all.push(any.length === 1 ? any[0]! : { $any: any });
  }
  return all.length === 0 ? undefined : { $all: all };
}
