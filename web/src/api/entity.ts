import type { EntityPart } from "./types";

// Ref is how an entity is named: kind, namespace and name.
export type Ref = { kind: string; namespace: string; name: string };

// Annotations that pages look at, in the portal's own words. annotation() also finds them in Backstage's.
export const annotations = {
  xrdName: "composer.io/xrd-name",
  discoveredFrom: "portal.io/discovered-from",
  stale: "portal.io/stale",
  staleSince: "portal.io/stale-since",
  purpose: "portal.io/template-purpose",
  unserved: "composer.io/unserved",
  viewUrl: "portal.io/view-url",
} as const;

// refOf names an entity, in lower case as the catalog does.
export function refOf(entity: EntityPart): Ref {
  return {
    kind: (entity.kind ?? "").toLowerCase(),
    namespace: (entity.metadata?.namespace ?? "default").toLowerCase(),
    name: entity.metadata?.name ?? "",
  };
}

// parseRef reads [kind:][namespace/]name. What is left out is taken from the defaults.
export function parseRef(text: string, defaults?: { kind?: string; namespace?: string }): Ref {
  const colon = text.indexOf(":");
  const kind = colon < 0 ? (defaults?.kind ?? "") : text.slice(0, colon);
  const rest = text.slice(colon + 1);
  const slash = rest.indexOf("/");
  return {
    kind: kind.toLowerCase(),
    namespace: (slash < 0 ? (defaults?.namespace ?? "default") : rest.slice(0, slash)).toLowerCase(),
    name: rest.slice(slash + 1),
  };
}

// formatRef is the opposite of parseRef, with nothing left out.
export function formatRef(ref: Ref): string {
  return `${ref.kind}:${ref.namespace}/${ref.name}`;
}

// entityPath is where an entity's page is.
export function entityPath(ref: Ref): string {
  return `/catalog/${[ref.namespace, ref.kind, ref.name].map(encodeURIComponent).join("/")}`;
}

// templatePath is where a Template's form is.
export function templatePath(ref: { namespace: string; name: string }): string {
  return `/create/${[ref.namespace, ref.name].map(encodeURIComponent).join("/")}`;
}

// titleOf is what people call an entity.
export function titleOf(entity: EntityPart): string {
  return entity.metadata?.title || entity.metadata?.name || "";
}

// specText returns a text of the spec, empty if it is not there or not a text.
export function specText(entity: EntityPart, key: string): string {
  const value = (entity.spec as Record<string, unknown> | undefined)?.[key];
  return typeof value === "string" ? value : "";
}

// The portal may be told to write the words of Backstage and Crossplane in place of its own.
const translations: [own: string, other: string][] = [
  ["portal.io/cluster-id", "backstage.io/kubernetes-id"],
  ["portal.io/cluster-namespace", "backstage.io/kubernetes-namespace"],
  ["composer.io/", "crossplane.io/"],
  ["scaffolder.portal.io/", "scaffolder.backstage.io/"],
  ["vendor.portal.io/", "terasky.backstage.io/"],
  ["portal.io/", "backstage.io/"],
];

// spellings returns a key in the portal's own words and in those of Backstage.
export function spellings(key: string): string[] {
  const found = translations.find(([own]) => key.startsWith(own));
  return found ? [key, found[1] + key.slice(found[0].length)] : [key];
}

// annotation returns the value of an annotation under any of its names, empty if there is none.
export function annotation(entity: EntityPart, key: string): string {
  const all = entity.metadata?.annotations;
  for (const name of spellings(key)) {
    if (all?.[name] !== undefined) {
      return all[name];
    }
  }
  return "";
}
