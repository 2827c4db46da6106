import { isObject, resolve, text, type Schema } from "./schema";

export type Content = { type: string; schema: unknown; example: unknown };
export type Parameter = { name: string; place: string; required: boolean; description: string; schema: unknown };
export type Answer = { status: string; description: string; contents: Content[] };

// Operation is an operation of an API.
export type Operation = {
  key: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  deprecated: boolean;
  parameters: Parameter[];
  body: Content[];
  answers: Answer[];
};

const methods = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

// operationsOf lists the operations of an OpenAPI document in order.
export function operationsOf(document: unknown): Operation[] {
  const paths = isObject(document) && isObject(document["paths"]) ? document["paths"] : {};
  return Object.entries(paths).flatMap(([path, raw]) => {
    const item = resolve(document, raw);
    return methods.flatMap((method) => {
      const operation = item[method];
      return isObject(operation) ? [operationOf(document, method, path, item, operation)] : [];
    });
  });
}

function operationOf(document: unknown, method: string, path: string, item: Schema, operation: Schema): Operation {
  const body = resolve(document, operation["requestBody"]);
  const answers = isObject(operation["responses"]) ? operation["responses"] : {};
  return {
    key: `${method} ${path}`,
    method: method.toUpperCase(),
    path,
    summary: text(operation["summary"]),
    description: text(operation["description"]),
    deprecated: operation["deprecated"] === true,
    parameters: [item["parameters"], operation["parameters"]].flatMap((list) => (Array.isArray(list) ? list : [])).map((p) => parameterOf(document, p)),
    body: contentsOf(body),
    answers: Object.entries(answers).map(([status, raw]) => {
      const answer = resolve(document, raw);
      return { status, description: text(answer["description"]), contents: contentsOf(answer) };
    }),
  };
}

function parameterOf(document: unknown, raw: unknown): Parameter {
  const p = resolve(document, raw);
  return { name: text(p["name"]), place: text(p["in"]), required: p["required"] === true, description: text(p["description"]), schema: p["schema"] };
}

function contentsOf(of: Schema): Content[] {
  const content = isObject(of["content"]) ? of["content"] : {};
  return Object.entries(content).map(([type, raw]) => {
    const media = isObject(raw) ? raw : {};
    return { type, schema: media["schema"], example: exampleOf(media) };
  });
}

function exampleOf(media: Schema): unknown {
  if (media["example"] !== undefined) {
    return media["example"];
  }
  const examples = isObject(media["examples"]) ? Object.values(media["examples"]) : [];
  return isObject(examples[0]) ? examples[0]["value"] : undefined;
}

// mostFields limits an example: a schema may have thousands of fields or be recursive.
const mostFields = 300;

// anyText is the example of a text.
const anyText = "text";

// sample generates an example for a schema: its own example, else defaults, first enum values and empty values.
export function sample(document: unknown, schema: unknown): unknown {
  let left = mostFields;
  const make = (raw: unknown, depth: number): unknown => {
    const s = resolve(document, raw);
    if (s["example"] !== undefined) {
      return s["example"];
    }
    if (s["default"] !== undefined) {
      return s["default"];
    }
    if (Array.isArray(s["enum"])) {
      return s["enum"][0];
    }
    const type = Array.isArray(s["type"]) ? s["type"][0] : s["type"];
    if (isObject(s["properties"])) {
      const out: Schema = {};
      for (const [name, child] of Object.entries(s["properties"])) {
        if (depth > 8 || left-- <= 0) {
          break;
        }
        if (resolve(document, child)["readOnly"] !== true) {
          out[name] = make(child, depth + 1);
        }
      }
      return out;
    }
    switch (type) {
      case "array":
        return depth > 8 || !isObject(s["items"]) ? [] : [make(s["items"], depth + 1)];
      case "object":
        return {};
      case "integer":
      case "number":
        return s["minimum"] ?? 0;
      case "boolean":
        return false;
      case "string":
        return s["format"] === "date-time" ? "2026-01-31T12:00:00Z" : anyText;
    }
    return s["x-kubernetes-int-or-string"] === true ? 1 : {};
  };
  return make(schema, 0);
}

// setByServer are the fields of metadata that clients do not send.
const setByServer = ["creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"];

// requestSample returns an example as clients send it: an object of Kubernetes has no status, and only the metadata that its
// author writes.
export function requestSample(example: unknown): unknown {
  if (!isObject(example) || !("apiVersion" in example) || !("kind" in example)) {
    return example;
  }
  const { status: _, ...rest } = example;
  if (!isObject(rest["metadata"])) {
    return rest;
  }
  const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
  const metadata = Object.fromEntries(Object.entries(rest["metadata"]).filter(([key, value]) => !setByServer.includes(key) && !isEmpty(value)));
  const named = { name: `my-${text(rest["kind"]).toLowerCase() || "object"}`, namespace: "default" };
  for (const [key, value] of Object.entries(named)) {
    // "text" stands for any text.
    if (metadata[key] === anyText) {
      metadata[key] = value;
    }
  }
  return { ...rest, metadata };
}
