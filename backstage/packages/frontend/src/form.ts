interface Schema {
  properties?: Record<string, Schema>;
  'ui:widget'?: string;
}

/** Form is a form of the portal that is filled from a resource. */
export interface Form {
  steps: { schema: Schema }[];
  values?: Record<string, unknown>;
}

/**
 * valuesForAddress returns the values of an update form that may be part of an address: browsers keep addresses, so
 * passwords are left out. A field that is empty in an update form stays as it is.
 */
export function valuesForAddress({ steps, values = {} }: Form): Record<string, unknown> {
  return steps.reduce((left, { schema }) => withoutPasswords(left, schema), values);
}

function withoutPasswords(values: Record<string, unknown>, { properties = {} }: Schema): Record<string, unknown> {
  const kept = Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema?.['ui:widget'] === 'password') {
      return [];
    }
    // Items of lists are kept: an update replaces a list as a whole.
    return [[name, schema && typeof value === 'object' && value !== null && !Array.isArray(value) ? withoutPasswords(value as Record<string, unknown>, schema) : value]];
  });
  return Object.fromEntries(kept);
}
