import { annotations, spellings } from "../api/entity";
import { readinessTitle } from "../api/readiness";
import { texts } from "../text";

// FacetName is the name of a field that can be filtered by value.
export type FacetName = "kind" | "type" | "status" | "owner" | "system" | "tag" | "cluster";

type FacetOf = {
  title: string;
  // fields are the entity fields that may hold the value.
  fields: string[];
  // where selects the entities with one of the values; by default those with one of them in a field.
  where?: (values: string[]) => Predicate;
  show?: (value: string) => string;
};

type Predicate = Record<string, unknown>;

// readiness is the field with the readiness of an entity.
export const readiness = "spec.readiness";

// stale selects the entities that could not be read lately.
export const stale: Predicate = { $any: spellings(annotations.stale).map((key) => ({ [`metadata.annotations.${key}`]: { $exists: true } })) };

// statusIn selects entities by the status that the table shows: that of a stale entity is unknown.
function statusIn(values: string[]): Predicate {
  const any: Predicate[] = [];
  const known = values.filter((value) => value !== "unknown");
  if (known.length > 0) {
    any.push({ $all: [{ [readiness]: { $in: known } }, { $not: stale }] });
  }
  if (known.length < values.length) {
    any.push({ [readiness]: "unknown" }, { $all: [{ [readiness]: { $exists: true } }, stale] });
  }
  return { $any: any };
}

export const facets: Record<FacetName, FacetOf> = {
  kind: { title: texts.catalog.columns.kind, fields: ["kind"] },
  type: { title: texts.catalog.columns.type, fields: ["spec.type"] },
  status: { title: texts.catalog.columns.status, fields: [readiness], where: statusIn, show: readinessTitle },
  owner: { title: texts.catalog.columns.owner, fields: ["relations.ownedBy"] },
  system: { title: texts.catalog.columns.system, fields: ["spec.system"] },
  tag: { title: texts.catalog.columns.tags, fields: ["metadata.tags"] },
  cluster: { title: texts.catalog.columns.cluster, fields: spellings(annotations.discoveredFrom).map((key) => `metadata.annotations.${key}`) },
};

// folded selects what belongs to a product and is shown in the row of its Template: its API, definition, Compositions, and
// the Templates that update and delete. Locations, which say where entities come from, are not shown either.
const folded: Predicate = {
  $any: [
    { kind: "Location" },
    {
      $all: [
        { $any: spellings(annotations.xrdName).map((key) => ({ [`metadata.annotations.${key}`]: { $exists: true } })) },
        { $any: [{ kind: "API" }, { "spec.type": { $in: ["crossplane-xrd", "composer-xrd", "crossplane-composition", "composer-composition"] } }] },
      ],
    },
    ...spellings(annotations.purpose).map((key) => ({ [`metadata.annotations.${key}`]: { $in: ["update", "delete"] } })),
  ],
};

// unfolding are the facets by which the parts of a product differ: to choose one of their values is to ask for the parts.
export const unfolding: FacetName[] = ["kind", "type", "system"];

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
  // mine selects the entities that the user owns: own are the references of the user and of the user's groups.
  mine: boolean;
  own: string[];
  // all shows every entity in a row of its own, instead of one row for each product.
  all: boolean;
  // older are the names of Templates of older versions, which are folded too.
  older: string[];
  sort: Column;
  descending: boolean;
};

export function parseFilter(params: URLSearchParams, own: string[] = [], older: string[] = []): CatalogFilter {
  const sort = params.get("sort") ?? "name";
  const known = Object.hasOwn(columns, sort);
  return {
    text: params.get("q") ?? "",
    chosen: Object.fromEntries(facetNames.map((name) => [name, params.getAll(name)])) as CatalogFilter["chosen"],
    mine: params.get("mine") === "true",
    own,
    all: params.get("all") === "true",
    older,
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
  if (filter.mine) {
    params.set("mine", "true");
  }
  if (filter.all) {
    params.set("all", "true");
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
  return filter.text.trim() !== "" || filter.mine || facetNames.some((name) => filter.chosen[name].length > 0);
}

// isUnfoldedByFacet reports whether a chosen value unfolds the table.
export function isUnfoldedByFacet(filter: CatalogFilter): boolean {
  return unfolding.some((name) => filter.chosen[name].length > 0);
}

// isFolded reports whether the table has one row for each product.
export function isFolded(filter: CatalogFilter): boolean {
  return !filter.all && !isUnfoldedByFacet(filter);
}

// predicate returns the filter as a catalog query. Leaving out one facet gives the counts of its other values.
export function predicate(filter: CatalogFilter, without?: FacetName): { $all: Predicate[] } | undefined {
  const all: Predicate[] = [];
  for (const name of facetNames) {
    const values = filter.chosen[name];
    if (name === without || values.length === 0) {
      continue;
    }
    const where = facets[name].where;
    if (where) {
      all.push(where(values));
      continue;
    }
    const any = facets[name].fields.map((field) => ({ [field]: { $in: values } }));
    all.push(any.length === 1 ? any[0]! : { $any: any });
  }
  if (filter.mine) {
    all.push({ "relations.ownedBy": { $in: filter.own } });
  }
  if (isFolded(filter)) {
    all.push({ $not: folded });
    if (filter.older.length > 0) {
      all.push({ $not: { $all: [{ kind: "Template" }, { "metadata.name": { $in: filter.older } }] } });
    }
  }
  return all.length === 0 ? undefined : { $all: all };
}

// isNotReadyMine reports whether a filter selects what the user owns and is not ready.
export function isNotReadyMine(filter: CatalogFilter): boolean {
  return filter.mine && filter.chosen.status.length === 1 && filter.chosen.status[0] === "not ready";
}

// notReadyMine returns the part of a filter that selects what the user owns and is not ready, or that no longer does.
export function notReadyMine(filter: CatalogFilter, on: boolean): Pick<CatalogFilter, "mine" | "chosen"> {
  return { mine: on, chosen: { ...filter.chosen, status: on ? ["not ready"] : [] } };
}
