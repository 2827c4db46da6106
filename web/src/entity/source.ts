import { queryOptions } from "@tanstack/react-query";
import { fetchJson, path } from "../api/client";
import type { Entity, EntityPart, Schemas } from "../api/types";
import { profiles } from "../playground/preview";
import { roleOf } from "./facts";
import { definitionOf, type ClusterManifest } from "./queries";

// Source is the XRD or Composition behind an entity. Its object is untrusted: check every value.
export type Source = Schemas["EntitySource"];

// hasSource reports whether an entity was built from an XRD or represents a Composition.
export function hasSource(entity: Entity): boolean {
  if (isTemplateOrApi(entity)) {
    return definitionOf(entity) !== "";
  }
  const role = roleOf(entity);
  return role === "definition" || role === "composition";
}

// isTemplateOrApi reports whether an entity is generated from a definition but represents no object. A Template may have
// the type of a definition.
export function isTemplateOrApi(entity: Entity): boolean {
  return entity.kind === "Template" || entity.kind === "API";
}

// sourceQuery loads the source of an entity, as it was last read.
export function sourceQuery(entity: EntityPart) {
  const { namespace = "default", name = "" } = entity.metadata ?? {};
  const kind = entity.kind ?? "";
  return queryOptions({
    queryKey: ["source", namespace, kind, name],
    queryFn: ({ signal }) => fetchJson<Source>(path("/api/composer-ingestor/source", kind, namespace, name), { signal }),
    staleTime: 15_000,
    retry: false,
  });
}

// profileOf returns the profile of the playground that generates what the source's ingestor does.
export function profileOf(source: string): string | undefined {
  const profile = profiles.find((p) => source.startsWith(`${p}/`));
  return profile === "composerIngestor" ? undefined : profile;
}

// setByCluster are the fields of metadata that a cluster sets.
const setByCluster = ["creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

// asWritten returns an object without what a cluster added, as a developer would write it.
export function asWritten(object: ClusterManifest): ClusterManifest {
  const { status: _, ...rest } = object;
  return withMetadata(rest, (metadata) => Object.fromEntries(Object.entries(metadata).filter(([key]) => !setByCluster.includes(key))));
}

// withoutManagedFields returns an object without metadata.managedFields.
export function withoutManagedFields(object: ClusterManifest): ClusterManifest {
  return withMetadata(object, ({ managedFields: _, ...metadata }) => metadata);
}

// hasManagedFields reports whether an object has metadata.managedFields.
export function hasManagedFields(object: ClusterManifest): boolean {
  return isMap(object["metadata"]) && "managedFields" in object["metadata"];
}

function withMetadata(object: ClusterManifest, change: (metadata: ClusterManifest) => ClusterManifest): ClusterManifest {
  return isMap(object["metadata"]) ? { ...object, metadata: change(object["metadata"]) } : object;
}

function isMap(value: unknown): value is ClusterManifest {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
