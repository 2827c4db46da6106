import { describe, expect, test } from "vitest";
import { rebase, renewed } from "./renewal";

const page = (properties: Record<string, object>) => [{ title: "One", schema: { type: "object", properties } }];

describe("another version of a form", () => {
  const before = { pages: page({ name: { title: "Name", type: "string" }, count: { title: "Count", type: "integer" }, size: { title: "Size", type: "string" } }), start: {} };
  const after = { pages: page({ name: { title: "Name", type: "string" }, count: { title: "Count", type: "integer", maximum: 5 }, zone: { title: "Zone", type: "string", default: "a" } }), start: {} };
  test("keeps what fits, and says what does not", () => {
    expect(renewed(before, after, { name: "abc", count: 9, size: "large" })).toEqual({
      values: { name: "abc", zone: "a" },
      renewal: { added: ["Zone"], removed: ["Size"], stricter: ["Count"], lost: [{ title: "Count", value: 9 }, { title: "Size", value: "large" }], moved: [] },
    });
  });
  test("that only proposes something else is not another", () => {
    const other = page({ name: { title: "Name", type: "string", default: "x" }, count: { title: "Count", type: "integer" }, size: { title: "Size", type: "string" } });
    expect(renewed(before, { pages: other, start: {} }, { name: "abc" }).renewal).toEqual({ added: [], removed: [], stricter: [], lost: [], moved: [] });
  });
});

test("a resource that changed meanwhile brings its news, and keeps what was typed", () => {
  const pages = page({ generation: { type: "integer", "ui:widget": "hidden" }, size: { title: "Size", type: "string" }, region: { title: "Region", type: "string" } });
  const { values, renewal } = renewed({ pages, start: { generation: 1, size: "small", region: "eu" } }, { pages, start: { generation: 2, size: "small", region: "us" } }, { generation: 1, size: "large", region: "eu" });
  expect(values).toEqual({ generation: 2, size: "large", region: "us" });
  expect(renewal.moved).toEqual([{ title: "Region", from: "eu", to: "us" }]);
});

test.each([
  ["nothing was changed", { a: 1 }, { a: 1 }, { a: 2 }, { a: 2 }],
  ["a part was changed", { a: 1, b: { c: 1, d: 1 } }, { a: 1, b: { c: 9, d: 1 } }, { a: 2, b: { c: 1, d: 2 } }, { a: 2, b: { c: 9, d: 2 } }],
  ["something was emptied", { a: 1 }, { a: undefined }, { a: 2 }, { a: undefined }],
  ["both changed a list", { a: [1] }, { a: [1, 2] }, { a: [3] }, { a: [1, 2] }],
  ["something came", { a: 1 }, { a: 2 }, { a: 1, b: 2 }, { a: 2, b: 2 }],
])("changes are brought over where %s", (_, base, mine, theirs, want) => {
  expect(rebase(base, mine, theirs)).toEqual(want);
});
