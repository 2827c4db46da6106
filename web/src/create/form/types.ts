// Schema is a JSON Schema of a form. It is untrusted: check every value.
export type Schema = { [key: string]: unknown };

// Values are the values of a form.
export type Values = { [key: string]: unknown };

// Path is the path to a value: keys and list indexes.
export type Path = (string | number)[];

// Problem is a validation error.
export type Problem = { path: Path; message: string; keyword: string };

export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// has reports whether a key exists, whatever its value.
export function has(object: object, key: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, key);
}

// isHidden reports whether a field is hidden.
export function isHidden(schema: Schema | undefined): boolean {
  return schema?.["ui:widget"] === "hidden" || (isObject(schema?.["ui:options"]) && schema["ui:options"]["widget"] === "hidden");
}
