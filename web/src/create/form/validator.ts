import { createErrorHandler, ErrorSchemaBuilder, unwrapErrorHandler, validationDataMerge, type RJSFValidationError, type ValidatorType } from "@rjsf/utils";
import { check, fits } from "./problems";
import { prune } from "./prune";
import { isObject, type Path, type Problem, type Schema } from "./types";

// errorsOf brings problems into the shape that the form shows at its fields.
export function errorsOf(problems: Problem[]) {
  const builder = new ErrorSchemaBuilder();
  for (const p of problems) {
    builder.addErrors(p.message, p.path.map(String));
  }
  return builder.ErrorSchema;
}

function listed(p: Problem): RJSFValidationError {
  const property = `.${p.path.join(".")}`;
  return { name: p.keyword, property, message: p.message, stack: `${property} ${p.message}` };
}

// withDefinitions lets a part of a schema refer to what its root defines. The result is kept, so that it is compiled once.
const joined = new WeakMap<object, WeakMap<object, Schema>>();

function withDefinitions(schema: Schema, root: Schema | undefined): Schema {
  if (!root || root === schema || !(root["definitions"] || root["$defs"])) {
    return schema;
  }
  const inner = joined.get(root) ?? new WeakMap<object, Schema>();
  joined.set(root, inner);
  let both = inner.get(schema);
  if (!both) {
    both = { definitions: root["definitions"], $defs: root["$defs"], ...schema };
    inner.set(schema, both);
  }
  return both;
}

// missing is what a schema says of a value that is not there.
function missing(schema: Schema): boolean {
  return schema["type"] === undefined && schema["enum"] === undefined && schema["const"] === undefined;
}

// validator checks forms without making code of schemas, which the policy of the page forbids. What is checked is what
// would be sent: without all that was left empty.
export const validator: ValidatorType = {
  validateFormData(formData, schema, customValidate, transformErrors, uiSchema) {
    const problems = check(schema, prune(formData, schema) ?? {});
    let errors = problems.map(listed);
    if (transformErrors) {
      errors = transformErrors(errors, uiSchema);
    }
    const found = { errors, errorSchema: errorsOf(problems) };
    if (typeof customValidate !== "function") {
      return found;
    }
    const handler = customValidate(formData, createErrorHandler(formData ?? {}), uiSchema);
    return validationDataMerge(found, unwrapErrorHandler(handler));
  },
  isValid(schema, formData, rootSchema) {
    if (typeof schema === "boolean") {
      return schema;
    }
    if (formData === undefined) {
      return missing(schema);
    }
    return fits(withDefinitions(schema, rootSchema), defined(formData));
  },
  rawValidation(schema, formData) {
    return { errors: check(schema, defined(formData) ?? {}) as never[] };
  },
};

// defined is a value without keys that have none.
function defined(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.some((v) => v === undefined || typeof v === "object") ? value.map((v) => (v === undefined ? null : defined(v))) : value;
  }
  if (!isObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, v]) => v !== undefined)
      .map(([k, v]) => [k, defined(v)]),
  );
}

// ServerProblem is what the portal says of a value.
export type ServerProblem = { path?: unknown; message?: unknown; name?: unknown; argument?: unknown };

// fromServer reads what the portal says of values, for the same places and in the same words where there are some.
export function fromServer(errors: unknown): Problem[] {
  if (!Array.isArray(errors)) {
    return [];
  }
  return (errors as ServerProblem[]).map((e) => {
    const path = (Array.isArray(e.path) ? e.path : []) as Path;
    const missing = e.name === "required" && typeof e.argument === "string";
    return {
      path: missing ? [...path, e.argument as string] : path,
      keyword: typeof e.name === "string" ? e.name : "",
      message: missing ? "Fill this in." : `The portal says: ${String(e.message)}`,
    };
  });
}
