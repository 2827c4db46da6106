import { expect, test } from "vitest";
import { isNarrowed, predicate, readChoice, short, writeChoice } from "./choice";
import { merge } from "./queries";

const read = (text: string) => readChoice(new URLSearchParams(text));

test.each(["", "q=data+base", "q=x&kind=API&kind=Template&type=service&tag=a%2Cb", "sort=kind&order=desc", "sort=name&order=desc", "cluster=a%2Cb"])(
  "the address %j says what is seen, and back",
  (text) => {
    expect(writeChoice(read(text)).toString()).toBe(text);
  },
);

test("an address that somebody changed is read as well as it can be", () => {
  expect(read("sort=nosuch&order=desc")).toMatchObject({ sort: "name", descending: false });
  expect(read("sort=__proto__")).toMatchObject({ sort: "name" });
});

test("only what leaves something out narrows", () => {
  expect(isNarrowed(read("sort=kind"))).toBe(false);
  expect(isNarrowed(read("q=+"))).toBe(false);
  expect(isNarrowed(read("q=a"))).toBe(true);
  expect(isNarrowed(read("tag=a"))).toBe(true);
});

test("a choice is a predicate; values of one facet are alternatives", () => {
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

test("fields that mean the same are counted together", () => {
  expect(merge([[{ value: "a", count: 1 }], [{ value: "a", count: 2 }, { value: "b", count: 5 }]])).toEqual([
    { value: "a", count: 3 },
    { value: "b", count: 5 },
  ]);
});

test.each([
  ["group:default/team", "team"],
  ["group:other/team", "other/team"],
  ["team", "team"],
])("%s is written %s", (ref, want) => expect(short(ref)).toBe(want));
