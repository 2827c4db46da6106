import type { EntityPart } from "../api/types";
import { roleOf } from "./facts";
import { definitionOf, purposeOf, useDefinitionEntities, versionOf } from "./queries";

// Product is what was generated from a definition: the definition itself, its forms and its API.
export type Product = { definition?: EntityPart; create?: EntityPart; update?: EntityPart; delete?: EntityPart; api?: EntityPart };

// productOf chooses the parts of a definition's entities, preferably of one version.
export function productOf(family: EntityPart[], version: string): Product {
  const choose = (fits: (e: EntityPart) => boolean) => {
    const all = family.filter(fits);
    return all.find((e) => versionOf(e) === version) ?? all[0];
  };
  const form = (purpose: string) => choose((e) => e.kind === "Template" && purposeOf(e) === purpose);
  return {
    definition: choose((e) => roleOf(e) === "definition" && e.kind === "Resource"),
    create: form("create"),
    update: form("update"),
    delete: form("delete"),
    api: choose((e) => e.kind === "API"),
  };
}

// useProduct loads what was generated from the definition of an entity. It is empty for other entities.
export function useProduct(entity: EntityPart): Product {
  const { data } = useDefinitionEntities(definitionOf(entity));
  return productOf(data ?? [], versionOf(entity));
}
