// Schema is a JSON Schema of a form: somebody wrote it, so nothing in it is sure.
export type Schema = { [key: string]: unknown };

// Values are what a form is filled with.
export type Values = { [key: string]: unknown };

// Path leads to a value: keys, and places in lists.
export type Path = (string | number)[];

// Problem is a value that does not fit, and what to do about it.
export type Problem = { path: Path; message: string; keyword: string };

export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// has says whether a key is there, whatever its value is.
export function has(object: object, key: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, key);
}

// isHidden says whether a field is there and not shown.
export function isHidden(schema: Schema | undefined): boolean {
  return schema?.["ui:widget"] === "hidden" || (isObject(schema?.["ui:options"]) && schema["ui:options"]["widget"] === "hidden");
}
