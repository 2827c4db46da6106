import { createErrorHandler, ErrorSchemaBuilder, unwrapErrorHandler, validationDataMerge, type RJSFValidationError, type ValidatorType } from "@rjsf/utils";
import { texts } from "../../text";
import { check, fits } from "./problems";
import { prune } from "./prune";
import { isObject, type Path, type Problem, type Schema } from "./types";

// errorsOf converts problems to the error schema of the form library.
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

// withDefinitions adds the root's definitions to a part of a schema. Results are cached, so that each is compiled once.
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

// missing reports whether a schema accepts an absent value.
function missing(schema: Schema): boolean {
  return schema["type"] === undefined && schema["enum"] === undefined && schema["const"] === undefined;
}

// validator validates forms without generating code, which the Content-Security-Policy forbids. It checks the values as
// they would be sent, without empty fields.
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

// defined removes keys with undefined values.
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

// ServerProblem is a validation error from the server.
export type ServerProblem = { path?: unknown; message?: unknown; name?: unknown; argument?: unknown };

// fromServer converts validation errors from the server, with the same wording where possible.
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
      message: missing ? texts.create.message.required : texts.create.message.rejected(String(e.message)),
    };
  });
}
