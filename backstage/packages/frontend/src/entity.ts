import { DEFAULT_NAMESPACE, type Entity } from '@backstage/catalog-model';

// Annotations of the entities that the backend package reads from a portal.
const portal = 'openportal.dev/portal';
const cluster = 'backstage.io/discovered-from';
const namespace = 'backstage.io/kubernetes-namespace';
const objectName = 'crossplane.terasky.io/xr-name';
const definition = 'crossplane.io/xrd-name';
const version = 'crossplane.io/xrd-version';
const purpose = 'backstage.io/template-purpose';
const stale = 'backstage.io/stale';
const staleSince = 'backstage.io/stale-since';

function annotation(entity: Entity, key: string): string | undefined {
  return entity.metadata.annotations?.[key];
}

/** isRunning reports whether an entity is a composite or claim that a portal has read from a cluster. */
export function isRunning(entity: Entity): boolean {
  return entity.kind === 'Resource' && entity.spec?.['type'] === 'crossplane-xr' && [portal, cluster, objectName].every((key) => annotation(entity, key) !== undefined);
}

/** pathOf returns the path of an entity in /api/ingestor. */
export function pathOf({ kind, metadata }: Entity): string {
  return `/entities/${[kind.toLowerCase(), metadata.namespace ?? DEFAULT_NAMESPACE, metadata.name].map(encodeURIComponent).join('/')}`;
}

/** objectOf returns where the object of an entity is, as the parameters of forms. */
export function objectOf(entity: Entity): Record<string, string> {
  const all = { name: annotation(entity, objectName), namespace: annotation(entity, namespace), cluster: annotation(entity, cluster) };
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

/** staleOf returns the cluster whose data in the catalog may be out of date, and since when. */
export function staleOf(entity: Entity): { cluster: string; since?: string } | undefined {
  const since = annotation(entity, staleSince);
  return annotation(entity, stale) === undefined ? undefined : { cluster: annotation(entity, cluster) ?? '', ...(since === undefined ? {} : { since }) };
}

/** templatesFilter selects the Templates of the definition of an entity. */
export function templatesFilter(entity: Entity): Record<string, string> {
  return { kind: 'Template', [`metadata.annotations.${definition}`]: annotation(entity, definition) ?? '', [`metadata.annotations.${portal}`]: annotation(entity, portal) ?? '' };
}

/** templateFor returns the Template for a purpose, preferably that of the version of an entity. */
export function templateFor(entity: Entity, templates: Entity[], what: 'update' | 'delete'): Entity | undefined {
  const all = templates.filter((t) => annotation(t, purpose) === what);
  return all.find((t) => annotation(t, version) === annotation(entity, version)) ?? all[0];
}

/** hasField reports whether the form of a Template has a field. */
export function hasField(template: Entity, name: string): boolean {
  return [template.spec?.['parameters'] ?? []].flat().some((page) => {
    const properties = (page as { properties?: object } | null)?.properties;
    return properties !== undefined && Object.hasOwn(properties, name);
  });
}
