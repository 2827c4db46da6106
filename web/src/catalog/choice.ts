import { annotations, spellings } from "../api/entity";

// A facet is a field that one can choose values of.
export type FacetName = "kind" | "type" | "owner" | "system" | "tag" | "cluster";

type FacetOf = {
  title: string;
  // fields are where the values stand: one of them has it.
  fields: string[];
  show?: (value: string) => string;
};

// short writes a reference without what goes without saying.
export function short(ref: string): string {
  return ref.replace(/^[a-z]+:/i, "").replace(/^default\//, "");
}

export const facets: Record<FacetName, FacetOf> = {
  kind: { title: "Kind", fields: ["kind"] },
  type: { title: "Type", fields: ["spec.type"] },
  owner: { title: "Owner", fields: ["relations.ownedBy"], show: short },
  system: { title: "System", fields: ["spec.system"], show: short },
  tag: { title: "Tags", fields: ["metadata.tags"] },
  cluster: { title: "Cluster", fields: spellings(annotations.discoveredFrom).map((key) => `metadata.annotations.${key}`) },
};

export const facetNames = Object.keys(facets) as FacetName[];

// Columns that the table can be sorted by, and their fields.
export const columns = {
  name: "metadata.name",
  kind: "kind",
  type: "spec.type",
  owner: "spec.owner",
  system: "spec.system",
} as const;

export type Column = keyof typeof columns;

// Choice is what somebody wants to see. It is all in the address.
export type Choice = {
  text: string;
  chosen: Record<FacetName, string[]>;
  sort: Column;
  descending: boolean;
};

export function readChoice(params: URLSearchParams): Choice {
  const sort = params.get("sort") ?? "name";
  const known = Object.hasOwn(columns, sort);
  return {
    text: params.get("q") ?? "",
    chosen: Object.fromEntries(facetNames.map((name) => [name, params.getAll(name)])) as Choice["chosen"],
    sort: known ? (sort as Column) : "name",
    descending: known && params.get("order") === "desc",
  };
}

export function writeChoice(choice: Choice): URLSearchParams {
  const params = new URLSearchParams();
  if (choice.text !== "") {
    params.set("q", choice.text);
  }
  for (const name of facetNames) {
    for (const value of choice.chosen[name]) {
      params.append(name, value);
    }
  }
  if (choice.sort !== "name" || choice.descending) {
    params.set("sort", choice.sort);
  }
  if (choice.descending) {
    params.set("order", "desc");
  }
  return params;
}

// isNarrowed says whether anything is left out.
export function isNarrowed(choice: Choice): boolean {
  return choice.text.trim() !== "" || facetNames.some((name) => choice.chosen[name].length > 0);
}

type Predicate = Record<string, unknown>;

// predicate is the choice as the catalog understands it. Without one facet it says how many there would be if other values
// of it were chosen.
export function predicate(choice: Choice, without?: FacetName): Predicate | undefined {
  const all: Predicate[] = [];
  for (const name of facetNames) {
    const values = choice.chosen[name];
    if (name === without || values.length === 0) {
      continue;
    }
    const any = facets[name].fields.map((field) => ({ [field]: { $in: values } }));
    all.push(any.length === 1 ? any[0]! : { $any: any });
  }
  return all.length === 0 ? undefined : { $all: all };
}
