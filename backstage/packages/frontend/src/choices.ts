/** A JSON Schema of a form. It comes from a Template: check every value. */
interface Schema {
  [key: string]: unknown;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * pointerOf returns the JSON Pointer of the field with an id such as root_storage_class; undefined if the page has none. Ids
 * do not tell an underscore of a name from the one between two names, so the schema of the page decides.
 */
export function pointerOf(page: unknown, id: string): string | undefined {
  const [, rest = ''] = /^root_(.+)$/s.exec(id) ?? [];
  return rest === '' ? undefined : find(page, rest, 0);
}

// deepest is how deep schemas are searched.
const deepest = 64;

function find(schema: unknown, rest: string, depth: number): string | undefined {
  if (!isSchema(schema) || depth > deepest) {
    return undefined;
  }
  const inside = (name: string, of: unknown) => {
    if (rest === name) {
      return step(name);
    }
    const tail = rest.startsWith(`${name}_`) ? find(of, rest.slice(name.length + 1), depth + 1) : undefined;
    return tail === undefined ? undefined : step(name) + tail;
  };
  const properties = isSchema(schema['properties']) ? Object.entries(schema['properties']) : [];
  for (const [name, of] of properties) {
    const found = inside(name, of);
    if (found !== undefined) {
      return found;
    }
  }
  const index = /^\d+/.exec(rest)?.[0];
  if (index !== undefined && isSchema(schema['items'])) {
    return inside(index, schema['items']);
  }
  const branches = [schema['oneOf'], schema['anyOf'], schema['allOf'], schema['then'], schema['else'], isSchema(schema['dependencies']) ? Object.values(schema['dependencies']) : []].flat();
  for (const branch of branches) {
    const found = find(branch, rest, depth + 1);
    if (found !== undefined) {
      return found;
    }
  }
  return isSchema(schema['additionalProperties']) ? (inside(rest, {}) ?? undefined) : undefined;
}

function step(name: string): string {
  return `/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
}

/**
 * queryOf returns the parameters of a request for all choices of a field, with cluster and namespace of the form. A form that
 * asks for the cluster as deliveryCluster may have a field cluster that means something else. In another form the portal
 * decides: it ignores the field unless a step of the Template uses it as its cluster.
 */
export function queryOf(page: unknown, field: string, values: Record<string, unknown>): string {
  const asks = isSchema(page) && isSchema(page['properties']) && Object.hasOwn(page['properties'], 'deliveryCluster');
  const cluster = values['deliveryCluster'] ?? (asks ? undefined : values['cluster']);
  const params = { field, cluster, namespace: values['namespace'] };
  return new URLSearchParams(Object.entries(params).flatMap(([key, value]): [string, string][] => (typeof value === 'string' && value !== '' ? [[key, value]] : []))).toString();
}

/** Choices are the values that a cluster has for a field. */
export interface Choices {
  items: { value: string | number; label?: string }[];
  /** Whether there are other values, which a search may find. */
  more: boolean;
}

/** noteOf says what a user cannot see from the choices; undefined if there is nothing to say. */
export function noteOf({ items, more }: Choices, search: string): string | undefined {
  if (more) {
    return 'There are more values. Type to search.';
  }
  return items.length === 0 && search === '' ? noteFor(404, '') : undefined;
}

/** noteFor says why a field has no choices. */
export function noteFor(status: number, message: string): string {
  switch (status) {
    case 400: {
      const [first] = /Choose a (cluster|namespace) first/.exec(message) ?? [];
      return first === undefined ? 'There are no suggestions for this field. Enter a value.' : `${first}, or enter a value.`;
    }
    case 403:
      return 'You may not list these objects in the cluster. Enter a value.';
    case 404:
      return 'There are no suggestions for this field. Enter a value.';
    case 503:
      return 'The cluster cannot be reached. Enter a value.';
  }
  return 'Cannot read suggestions. Enter a value.';
}

function typesOf({ type }: { type?: unknown }): unknown[] {
  return [type].flat();
}

/** isMany reports whether a field has a list of values. */
export function isMany(schema: { type?: unknown }): boolean {
  return typesOf(schema).includes('array');
}

/** readValue returns what a user typed as a value of a field, or of an item of its list. */
export function readValue(text: string, schema: { type?: unknown; items?: unknown }): string | number {
  const of = isMany(schema) && isSchema(schema.items) ? schema.items : schema;
  return typesOf(of).includes('integer') && /^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : text;
}
