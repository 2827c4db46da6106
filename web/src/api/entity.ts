import type { EntityPart } from "./types";

// Ref is an entity reference: kind, namespace and name.
export type Ref = { kind: string; namespace: string; name: string };

// Annotations that pages read, in the neutral vocabulary. annotation() also finds them in Backstage's vocabulary.
export const annotations = {
  xrdName: "composer.io/xrd-name",
  xrdVersion: "composer.io/xrd-version",
  discoveredFrom: "portal.io/discovered-from",
  stale: "portal.io/stale",
  staleSince: "portal.io/stale-since",
  purpose: "portal.io/template-purpose",
  unserved: "composer.io/unserved",
  viewUrl: "portal.io/view-url",
} as const;

// refOf returns the reference of an entity, in lower case as in the catalog.
export function refOf(entity: EntityPart): Ref {
  return {
    kind: (entity.kind ?? "").toLowerCase(),
    namespace: (entity.metadata?.namespace ?? "default").toLowerCase(),
    name: entity.metadata?.name ?? "",
  };
}

// parseRef parses [kind:][namespace/]name and takes missing parts from the defaults.
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

// formatRef writes a full reference; parseRef reads it.
export function formatRef(ref: Ref): string {
  return `${ref.kind}:${ref.namespace}/${ref.name}`;
}

// shortRef writes a reference without kind and default namespace.
export function shortRef(ref: string): string {
  return ref.replace(/^[a-z]+:/i, "").replace(/^default\//, "");
}

// entityPath returns the path of an entity's page.
export function entityPath(ref: Ref): string {
  return `/catalog/${[ref.namespace, ref.kind, ref.name].map(encodeURIComponent).join("/")}`;
}

// templatePath returns the path of a Template's form.
export function templatePath(ref: { namespace: string; name: string }): string {
  return `/create/${[ref.namespace, ref.name].map(encodeURIComponent).join("/")}`;
}

// titleOf returns the title of an entity, the display name of a user or group, or the name.
export function titleOf(entity: EntityPart): string {
  const profile = (entity.spec as Record<string, unknown> | undefined)?.["profile"];
  const shown: unknown = typeof profile === "object" && profile !== null && "displayName" in profile ? profile.displayName : undefined;
  return entity.metadata?.title || (typeof shown === "string" && shown) || entity.metadata?.name || "";
}

// specText returns a string field of the spec, or an empty string if it is missing or not a string.
export function specText(entity: EntityPart, key: string): string {
  const value = (entity.spec as Record<string, unknown> | undefined)?.[key];
  return typeof value === "string" ? value : "";
}

// The portal can be configured to write the vocabulary of Backstage and Crossplane instead of the neutral one.
const translations: [own: string, other: string][] = [
  ["portal.io/cluster-id", "backstage.io/kubernetes-id"],
  ["portal.io/cluster-namespace", "backstage.io/kubernetes-namespace"],
  ["composer.io/", "crossplane.io/"],
  ["scaffolder.portal.io/", "scaffolder.backstage.io/"],
  ["vendor.portal.io/", "terasky.backstage.io/"],
  ["portal.io/", "backstage.io/"],
];

// spellings returns a key in the neutral vocabulary and in that of Backstage.
export function spellings(key: string): string[] {
  const found = translations.find(([own]) => key.startsWith(own));
  return found ? [key, found[1] + key.slice(found[0].length)] : [key];
}

// annotation returns the value of an annotation under any of its spellings, or an empty string.
export function annotation(entity: EntityPart, key: string): string {
  const all = entity.metadata?.annotations;
  for (const name of spellings(key)) {
    if (all?.[name] !== undefined) {
      return all[name];
    }
  }
  return "";
}

// summaryFields are the fields that lists of entities show: whole Templates can be very large.
export const summaryFields = [
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.title",
  "metadata.description",
  "metadata.tags",
  "spec.type",
  "spec.owner",
  "spec.readiness",
  "spec.readinessSince",
  ...[annotations.stale, annotations.purpose, annotations.discoveredFrom].flatMap(spellings).map((key) => `metadata.annotations.${key}`),
];
