import { expect, it } from "vitest";
import { outline, pagesOf, typeOf } from "./outline";

it("lists nested fields after their parents and marks required ones", () => {
  const got = outline(
    {
      required: ["a"],
      properties: {
        a: { type: "object", title: "An A", properties: { b: { type: "integer", default: 0, minimum: 0 } } },
        list: { type: "array", items: { type: "object", properties: { c: { type: "string", enum: ["x", null] } } } },
        map: { type: "object", additionalProperties: { type: "object", properties: { d: { type: "boolean" } } } },
      },
    },
    "Page",
  );
  expect(got.fields.map((f) => [f.key, f.depth, f.type, f.required])).toEqual([
    ["/a", 0, "object", true],
    ["/a/b", 1, "integer", false],
    ["/list", 0, "list of object", false],
    ["/list[]/c", 1, "string", false],
    ["/map", 0, "map of object", false],
    ["/map{}/d", 1, "boolean", false],
  ]);
  expect(got.fields[1]!.notes).toEqual(["default 0", "minimum 0"]);
  expect(got.fields[3]!.notes).toEqual(['one of "x", null']);
});

it("is limited and counts the rest", () => {
  const properties = Object.fromEntries(Array.from({ length: 1900 }, (_, i) => [`p${i}`, { type: "string" }]));
  const got = outline({ properties }, "Page");
  expect(got.fields.length + got.left).toBe(1900);
  expect(got.left).toBeGreaterThan(0);
});

it("accepts any value as a schema", () => {
  for (const odd of [null, 7, "x", [], { properties: 3 }, { properties: { a: null } }, { required: "a", properties: { a: [] } }]) {
    expect(() => outline((odd ?? {}) as Record<string, unknown>, "x")).not.toThrow();
  }
  expect(pagesOf({ spec: { parameters: { title: "one" } } })).toEqual([{ title: "one" }]);
  expect(pagesOf(undefined)).toEqual([]);
});

it("describes types", () => {
  expect(typeOf({ anyOf: [{ type: "integer" }, { type: "string" }] })).toBe("integer or string");
  expect(typeOf({ type: ["string", "null"] })).toBe("string or null");
  expect(typeOf({})).toBe("any");
});
