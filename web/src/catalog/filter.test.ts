import { expect, test } from "vitest";
import { isFiltered, predicate, parseFilter, shortRef, formatFilter } from "./filter";
import { merge } from "./queries";

const read = (text: string) => parseFilter(new URLSearchParams(text));

test.each(["", "q=data+base", "q=x&kind=API&kind=Template&type=service&tag=a%2Cb", "sort=kind&order=desc", "sort=name&order=desc", "cluster=a%2Cb"])(
  "the URL %j round-trips",
  (text) => {
    expect(formatFilter(read(text)).toString()).toBe(text);
  },
);

test("invalid parameters fall back to defaults", () => {
  expect(read("sort=nosuch&order=desc")).toMatchObject({ sort: "name", descending: false });
  expect(read("sort=__proto__")).toMatchObject({ sort: "name" });
});

test("isFiltered ignores sorting and blank text", () => {
  expect(isFiltered(read("sort=kind"))).toBe(false);
  expect(isFiltered(read("q=+"))).toBe(false);
  expect(isFiltered(read("q=a"))).toBe(true);
  expect(isFiltered(read("tag=a"))).toBe(true);
});

test("a filter is a predicate; values of one facet are alternatives", () => {
  expect(predicate(read("q=text"))).toBeUndefined();
  expect(predicate(read("kind=API&kind=Template&tag=x"))).toEqual({
    $all: [{ kind: { $in: ["API", "Template"] } }, { "metadata.tags": { $in: ["x"] } }],
  });
  expect(predicate(read("kind=API&tag=x"), "kind")).toEqual({ $all: [{ "metadata.tags": { $in: ["x"] } }] });
  expect(predicate(read("cluster=a,b"))).toEqual({
    $all: [
      {
        $any: [
          { "metadata.annotations.portal.io/discovered-from": { $in: ["a,b"] } },
          { "metadata.annotations.backstage.io/discovered-from": { $in: ["a,b"] } },
        ],
      },
    ],
  });
});

test("merge adds up counts of equal values", () => {
  expect(merge([[{ value: "a", count: 1 }], [{ value: "a", count: 2 }, { value: "b", count: 5 }]])).toEqual([
    { value: "a", count: 3 },
    { value: "b", count: 5 },
  ]);
});

test.each([
  ["group:default/team", "team"],
  ["group:other/team", "other/team"],
  ["team", "team"],
])("shortRef writes %s as %s", (ref, want) => expect(shortRef(ref)).toBe(want));
