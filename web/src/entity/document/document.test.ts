import { describe, expect, it } from "vitest";
import { operationsOf, requestSample, sample } from "./operations";
import { readDocument } from "./read";
import { fieldsOf, resolve, typeOf } from "./schema";

const text = `
openapi: 3.0.0
info: { title: Buckets, version: v1 }
paths:
  /buckets/{name}:
    parameters: [{ name: name, in: path, required: true, schema: { type: string } }]
    get:
      summary: Read one
      responses: { "200": { $ref: "#/components/responses/One" } }
    put:
      requestBody: { content: { application/yaml: { schema: { $ref: "#/components/schemas/Bucket" } } } }
      responses: {}
components:
  responses:
    One: { description: Here it is, content: { application/json: { schema: { $ref: "#/components/schemas/Bucket" } } } }
  schemas:
    Bucket:
      type: object
      required: [region]
      properties:
        region: { type: string, enum: [a, b] }
        days: { type: integer, minimum: 3 }
        size: { x-kubernetes-int-or-string: true }
        labels: { type: object, additionalProperties: { type: string } }
        inner: { $ref: "#/components/schemas/Bucket" }
    Ring: { $ref: "#/components/schemas/Ring" }
`;

describe("an OpenAPI document", () => {
  const { document } = readDocument(text);

  it("lists its operations with resolved references", () => {
    const [get, put] = operationsOf(document);
    expect(get).toMatchObject({ method: "GET", path: "/buckets/{name}", summary: "Read one", answers: [{ status: "200", description: "Here it is" }] });
    expect(put!.parameters).toMatchObject([{ name: "name", place: "path", required: true }]);
    expect(put!.body).toMatchObject([{ type: "application/yaml" }]);
  });

  it("describes types", () => {
    const fields = fieldsOf(document, { $ref: "#/components/schemas/Bucket" });
    expect(fields.map((f) => `${f.name} ${typeOf(document, f.raw)}${f.required ? " required" : ""}`)).toEqual([
      "region string required",
      "days integer",
      "size integer or string",
      "labels map of string",
      "inner object",
    ]);
  });

  it("handles cycles and names of object members", () => {
    expect(resolve(document, { $ref: "#/components/schemas/Ring" })).toEqual({});
    expect(resolve(document, { $ref: "#/constructor/name" })).toEqual({});
    expect(JSON.stringify(sample(document, { $ref: "#/components/schemas/Bucket" })).length).toBeLessThan(10_000);
  });

  it("generates an example", () => {
    expect(sample(document, { $ref: "#/components/schemas/Bucket" })).toMatchObject({ region: "a", days: 3, size: 1, labels: {} });
  });
});

describe("readDocument", () => {
  it.each([
    ["asyncapi: 2.0.0", /Only OpenAPI/],
    ["a: [", /neither YAML nor JSON/],
    ["just text", /Only OpenAPI/],
  ])("%s", (source, want) => {
    const read = readDocument(source);
    expect(read.document).toBeUndefined();
    expect(read.problem).toMatch(want);
  });
});

describe("requestSample", () => {
  const cases: Record<string, { reason: string; example: unknown; want: unknown }> = {
    "an object": {
      reason: "the server sets status and most metadata",
      example: { apiVersion: "a/v1", kind: "Bucket", metadata: { name: "text", namespace: "text", labels: {}, uid: "text", creationTimestamp: "x" }, spec: { status: 1 }, status: { ready: true } },
      want: { apiVersion: "a/v1", kind: "Bucket", metadata: { name: "my-bucket", namespace: "default" }, spec: { status: 1 } },
    },
    "a named object": { reason: "the author of the document chose the name", example: { apiVersion: "a/v1", kind: "B", metadata: { name: "photos" } }, want: { apiVersion: "a/v1", kind: "B", metadata: { name: "photos" } } },
    "no object of Kubernetes": { reason: "status means something else there", example: { status: "open" }, want: { status: "open" } },
    "a text": { reason: "it may be anything", example: "status: x", want: "status: x" },
  };
  it.each(Object.entries(cases))("%s", (_, { reason, example, want }) => {
    expect(requestSample(example), reason).toEqual(want);
  });

  it("leaves out fields that only the server writes", () => {
    expect(sample({}, { properties: { a: { type: "integer" }, b: { type: "string", readOnly: true } } })).toEqual({ a: 0 });
  });
});
