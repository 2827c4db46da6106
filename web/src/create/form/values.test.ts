import { beforeEach, describe, expect, test, vi } from "vitest";
import { draftKey, dropDraft, readDraft, saveDraft, withoutSecrets } from "./draft";
import { carryOver, outgoing, pageOf, withDefaults } from "./pages";
import { unicodePattern } from "./pattern";
import { check } from "./problems";
import { prune } from "./prune";
import { fromServer } from "./validator";

describe("prune", () => {
  const cases: Record<string, { reason: string; schema: object; values: object; want: object }> = {
    emptied: { reason: "Cleared values are absent.", schema: { properties: { a: { type: "string" } } }, values: { a: undefined }, want: {} },
    untouched: { reason: "An untouched object is absent.", schema: { properties: { a: { type: "object", properties: { b: {} } } } }, values: { a: { b: undefined } }, want: {} },
    required: { reason: "A required object stays.", schema: { required: ["a"], properties: { a: { type: "object", properties: {} } } }, values: { a: {} }, want: { a: {} } },
    none: { reason: "An emptied default list stays, empty.", schema: { properties: { a: { type: "array", default: [1] } } }, values: { a: [] }, want: { a: [] } },
    holes: { reason: "Lists have no gaps.", schema: { properties: { a: { type: "array", items: { type: "string" } } } }, values: { a: ["x", undefined, null] }, want: { a: ["x"] } },
    falsy: { reason: "False, 0 and the empty string are values.", schema: { properties: { a: {}, b: {}, c: {} } }, values: { a: false, b: 0, c: "" }, want: { a: false, b: 0, c: "" } },
    free: { reason: "YAML input stays unchanged.", schema: { properties: { a: { type: "object" } } }, values: { a: { b: { c: {} } } }, want: { a: { b: { c: {} } } } },
    foreign: { reason: "Values of other pages stay.", schema: { properties: {} }, values: { other: {} }, want: { other: {} } },
  };
  test.each(Object.entries(cases))("%s", (_, c) => expect(prune(c.values, c.schema), c.reason).toEqual(c.want));
});

describe("messages", () => {
  const at = (schema: object, value: unknown) => check({ properties: { v: schema } }, { v: value }).map((p) => p.message);
  test("explain what is expected", () => {
    expect(at({ type: "integer" }, "x")).toEqual(["Must be a whole number."]);
    expect(at({ anyOf: [{ type: "integer" }, { type: "string" }] }, true)).toEqual(["Must be a whole number or text."]);
    expect(at({ enum: ["a", "b"] }, "c")).toEqual(["Choose one of: a, b."]);
    expect(at({ minimum: 3 }, 1)).toEqual(["Must be 3 or more."]);
    expect(at({ pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" }, "A")).toEqual(["Use lowercase letters, digits and dashes; start and end with a letter or digit."]);
  });
  test("are reported at the missing field", () => {
    expect(check({ required: ["a"] }, {})).toEqual([{ path: ["a"], keyword: "required", message: "This field is required." }]);
    expect(check({ properties: { o: { type: "object", required: ["x"] } } }, { o: {} })[0]!.path).toEqual(["o", "x"]);
  });
  test("come from the closest option", () => {
    const schema = { oneOf: [{ properties: { k: { const: "a" } } }, { required: ["x"], properties: { k: { const: "b" } } }] };
    expect(check(schema, { k: "b" })).toEqual([{ path: ["x"], keyword: "required", message: "This field is required." }]);
  });
  test("from the server are mapped to their field", () => {
    expect(fromServer([{ path: [], name: "required", argument: "name", message: 'requires property "name"' }])).toEqual([{ path: ["name"], keyword: "required", message: "This field is required." }]);
    expect(fromServer(undefined)).toEqual([]);
  });
});

test("patterns of other engines are converted if possible", () => {
  expect(new RegExp(unicodePattern("^a\\-b$")!, "u").test("a-b")).toBe(true);
  expect(new RegExp(unicodePattern("^[\\w\\-]+\\@x$")!, "u").test("a-b@x")).toBe(true);
  expect(unicodePattern("a++")).toBeUndefined();
});

describe("drafts", () => {
  beforeEach(() => localStorage.clear());
  const keyOf = (n: number) => draftKey("user:default/ann", `template:default/x${n}`);
  test("are at most 20, the latest", () => {
    vi.useFakeTimers();
    for (let i = 0; i < 25; i++) {
      vi.advanceTimersByTime(1000);
      saveDraft(keyOf(i), { etag: "", values: {} });
    }
    vi.useRealTimers();
    expect(Array.from({ length: 25 }, (_, i) => readDraft(keyOf(i)) !== undefined).filter(Boolean)).toHaveLength(20);
    expect(readDraft(keyOf(4))).toBeUndefined();
    expect(Object.keys(localStorage).filter((k) => k.startsWith("portal-draft:"))).toHaveLength(20);
  });
  test("expire after 30 days", () => {
    vi.useFakeTimers();
    saveDraft(keyOf(1), { etag: "", values: {} });
    vi.advanceTimersByTime(29 * 86_400_000);
    expect(readDraft(keyOf(1))).toBeDefined();
    vi.advanceTimersByTime(86_400_000);
    expect(readDraft(keyOf(1))).toBeUndefined();
    expect(localStorage.getItem(keyOf(1))).toBeNull();
    vi.useRealTimers();
  });
  test("belong to a user", () => {
    saveDraft(draftKey("user:default/ann", "template:default/x"), { etag: "", values: {} });
    expect(readDraft(draftKey("user:default/ben", "template:default/x"))).toBeUndefined();
  });
  test("round-trip, including cleared fields", () => {
    const key = draftKey("user:default/ann", "template:default/x");
    expect(saveDraft(key, { etag: "1", values: { a: undefined, b: [undefined, 1] } })).toBe(true);
    expect(readDraft(key)).toEqual({ at: expect.any(Number), etag: "1", values: { a: undefined, b: [undefined, 1] } });
    expect("a" in readDraft(key)!.values).toBe(true);
    dropDraft(key);
    expect(readDraft(key)).toBeUndefined();
  });
  test("contain no secrets", () => {
    const properties = new Map(Object.entries({ p: { "ui:widget": "password" }, s: { "ui:field": "Secret" }, o: { properties: { p: { format: "password" } } }, v: {} }));
    expect(withoutSecrets({ p: "1", s: "2", o: { p: "3", q: 4 }, v: 5 }, properties)).toEqual({ o: { q: 4 }, v: 5 });
    const list = { items: { properties: { p: { format: "password" } } } };
    const choice = { oneOf: [{ properties: { p: { format: "password" } } }] };
    const map = { additionalProperties: { format: "password" } };
    expect(withoutSecrets({ l: [{ p: "1", q: 2 }], c: { p: "1", q: 2 }, m: { a: "1" } }, new Map(Object.entries({ l: list, c: choice, m: map })))).toEqual({ l: [{ q: 2 }], c: { q: 2 }, m: {} });
  });
});

describe("pages", () => {
  const pages = [
    { title: "One", schema: { required: ["name"], properties: { name: { type: "string" }, n: { type: "integer", default: 3 } } } },
    { title: "Two", schema: { properties: { size: { enum: ["s", "l"] }, o: { type: "object", properties: { x: { type: "string" } } } } } },
  ];
  test("get the defaults of all pages", () => expect(withDefaults(pages, { name: "a" })).toMatchObject({ name: "a", n: 3 }));
  test("send only filled-in values", () => expect(outgoing(pages, { name: "a", o: {}, size: undefined })).toEqual({ name: "a" }));
  test("locate a problem", () => expect(pageOf(pages, { path: ["size"], keyword: "enum", message: "" })).toBe(1));
  test("keep valid values when the form changes", () => {
    expect(carryOver(pages, { name: "a", size: "m", old: 1, n: 4 })).toEqual({ values: { name: "a", n: 4 }, lost: ["size", "old"] });
  });
});
