import { expect, test } from "vitest";
import { isFiltered, isNotReadyMine, notReadyMine, predicate, parseFilter, shortRef, formatFilter } from "./filter";
import { merge, shownStatus } from "./queries";

const read = (text: string) => parseFilter(new URLSearchParams(text));

test.each(["", "q=data+base", "q=x&kind=API&kind=Template&type=service&tag=a%2Cb", "sort=kind&order=desc", "sort=name&order=desc", "cluster=a%2Cb", "status=not+ready&mine=true"])(
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
  expect(isFiltered(read("mine=true"))).toBe(true);
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

test("the status of stale entities is unknown", () => {
  const stale = { $any: [{ "metadata.annotations.portal.io/stale": { $exists: true } }, { "metadata.annotations.backstage.io/stale": { $exists: true } }] };
  const known = (...values: string[]) => ({ $all: [{ "spec.readiness": { $in: values } }, { $not: stale }] });
  const unknown = [{ "spec.readiness": "unknown" }, { $all: [{ "spec.readiness": { $exists: true } }, stale] }];
  expect(predicate(read("status=ready"))).toEqual({ $all: [{ $any: [known("ready")] }] });
  expect(predicate(read("status=unknown"))).toEqual({ $all: [{ $any: unknown }] });
  expect(predicate(read("status=not+ready&status=unknown"))).toEqual({ $all: [{ $any: [known("not ready"), ...unknown] }] });
});

test("counts of the status are those that the table shows", () => {
  const all = [
    { value: "ready", count: 5 },
    { value: "not ready", count: 2 },
    { value: "unknown", count: 1 },
  ];
  expect(shownStatus(all, [])).toEqual(all);
  expect(shownStatus(all, [{ value: "ready", count: 3 }, { value: "not ready", count: 2 }, { value: "unknown", count: 1 }])).toEqual([
    { value: "ready", count: 2 },
    { value: "unknown", count: 6 },
  ]);
  expect(shownStatus([], [])).toEqual([]);
});

test("what is mine depends on who asks", () => {
  const mine = (own: string[]) => predicate(parseFilter(new URLSearchParams("mine=true"), own));
  expect(mine(["user:default/ann", "group:default/red"])).toEqual({ $all: [{ "relations.ownedBy": { $in: ["user:default/ann", "group:default/red"] } }] });
  expect(mine([])).toEqual({ $all: [{ "relations.ownedBy": { $in: [] } }] });
});

test("not ready, mine is a filter like others", () => {
  const before = read("q=shop&kind=Resource&status=ready");
  const on = { ...before, ...notReadyMine(before, true) };
  expect(formatFilter(on).toString()).toBe("q=shop&kind=Resource&status=not+ready&mine=true");
  expect(isNotReadyMine(on)).toBe(true);
  expect(formatFilter({ ...on, ...notReadyMine(on, false) }).toString()).toBe("q=shop&kind=Resource");
  expect([read("mine=true"), read("status=not+ready"), read("mine=true&status=not+ready&status=ready")].map(isNotReadyMine)).toEqual([false, false, false]);
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
