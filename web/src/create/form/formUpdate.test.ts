import { describe, expect, test } from "vitest";
import { rebase, applyFormUpdate } from "./formUpdate";

const page = (properties: Record<string, object>) => [{ title: "One", schema: { type: "object", properties } }];

describe("applyFormUpdate", () => {
  const before = { pages: page({ name: { title: "Name", type: "string" }, count: { title: "Count", type: "integer" }, size: { title: "Size", type: "string" } }), start: {} };
  const after = { pages: page({ name: { title: "Name", type: "string" }, count: { title: "Count", type: "integer", maximum: 5 }, zone: { title: "Zone", type: "string", default: "a" } }), start: {} };
  test("keeps valid values and reports the others", () => {
    expect(applyFormUpdate(before, after, { name: "abc", count: 9, size: "large" })).toEqual({
      values: { name: "abc", zone: "a" },
      update: { added: ["Zone"], removed: ["Size"], stricter: ["Count"], lost: [{ title: "Count", value: 9 }, { title: "Size", value: "large" }], moved: [] },
    });
  });
  test("ignores changed defaults", () => {
    const other = page({ name: { title: "Name", type: "string", default: "x" }, count: { title: "Count", type: "integer" }, size: { title: "Size", type: "string" } });
    expect(applyFormUpdate(before, { pages: other, start: {} }, { name: "abc" }).update).toEqual({ added: [], removed: [], stricter: [], lost: [], moved: [] });
  });
});

test("a changed resource updates values that the user did not edit", () => {
  const pages = page({ generation: { type: "integer", "ui:widget": "hidden" }, size: { title: "Size", type: "string" }, region: { title: "Region", type: "string" } });
  const { values, update } = applyFormUpdate({ pages, start: { generation: 1, size: "small", region: "eu" } }, { pages, start: { generation: 2, size: "small", region: "us" } }, { generation: 1, size: "large", region: "eu" });
  expect(values).toEqual({ generation: 2, size: "large", region: "us" });
  expect(update.moved).toEqual([{ title: "Region", from: "eu", to: "us" }]);
});

test.each([
  ["nothing changed", { a: 1 }, { a: 1 }, { a: 2 }, { a: 2 }],
  ["a part changed", { a: 1, b: { c: 1, d: 1 } }, { a: 1, b: { c: 9, d: 1 } }, { a: 2, b: { c: 1, d: 2 } }, { a: 2, b: { c: 9, d: 2 } }],
  ["a value was cleared", { a: 1 }, { a: undefined }, { a: 2 }, { a: undefined }],
  ["both changed a list", { a: [1] }, { a: [1, 2] }, { a: [3] }, { a: [1, 2] }],
  ["a value was added", { a: 1 }, { a: 2 }, { a: 1, b: 2 }, { a: 2, b: 2 }],
])("rebase: %s", (_, base, mine, theirs, want) => {
  expect(rebase(base, mine, theirs)).toEqual(want);
});
