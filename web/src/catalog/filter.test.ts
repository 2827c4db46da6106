import { expect, test } from "vitest";
import { isFiltered, isNotReadyMine, notReadyMine, predicate, parseFilter, formatFilter, type FacetName } from "./filter";
import { shortRef } from "../api/entity";
import { olderOf } from "./products";
import { merge, shownStatus, withParts } from "./queries";

const read = (text: string) => parseFilter(new URLSearchParams(text));
// unfolded reads a filter that shows all entities.
const unfolded = (text: string) => read(`${text}&all=true`);

test.each(["", "q=data+base", "q=x&kind=API&kind=Template&type=service&tag=a%2Cb", "sort=kind&order=desc", "sort=name&order=desc", "cluster=a%2Cb", "status=not+ready&mine=true", "kind=API&mine=true&all=true"])(
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
  expect(predicate(unfolded("q=text"))).toBeUndefined();
  expect(predicate(unfolded("kind=API&kind=Template&tag=x"))).toEqual({
    $all: [{ kind: { $in: ["API", "Template"] } }, { "metadata.tags": { $in: ["x"] } }],
  });
  expect(predicate(unfolded("kind=API&tag=x"), "kind")).toEqual({ $all: [{ "metadata.tags": { $in: ["x"] } }] });
  expect(predicate(unfolded("cluster=a,b"))).toEqual({
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
  expect(predicate(unfolded("status=ready"))).toEqual({ $all: [{ $any: [known("ready")] }] });
  expect(predicate(unfolded("status=unknown"))).toEqual({ $all: [{ $any: unknown }] });
  expect(predicate(unfolded("status=not+ready&status=unknown"))).toEqual({ $all: [{ $any: [known("not ready"), ...unknown] }] });
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
  const mine = (own: string[]) => predicate(parseFilter(new URLSearchParams("mine=true&all=true"), own));
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

test("a product is one row, unless its parts are asked for", () => {
  const one = (text: string, without?: FacetName) => JSON.stringify(predicate(read(text), without) ?? null);
  expect(one("")).toContain("composer-xrd");
  expect(one("owner=red&q=x")).toContain("composer-xrd");
  for (const text of ["all=true", "kind=API", "type=openapi", "system=data"]) {
    expect(one(text)).not.toContain("composer-xrd");
  }
  // Counts are those of the table.
  expect(one("", "kind")).toContain("composer-xrd");
  expect(one("kind=API", "kind")).toBe("null");
});

test("kinds that only parts of products have can be chosen, without a count", () => {
  const counted = [{ value: "System", count: 3 }, { value: "Template", count: 2 }];
  const unfolded = [{ value: "Template", count: 6 }, { value: "API", count: 4 }, { value: "System", count: 3 }];
  expect(withParts(counted, unfolded)).toEqual([
    { value: "Template", count: 2, rank: 6 },
    { value: "API", count: undefined, rank: 4 },
    { value: "System", count: 3, rank: 3 },
  ]);
});

test("Templates of older versions are folded too", () => {
  const filter = parseFilter(new URLSearchParams(), [], ["queue-v1beta1"]);
  expect(predicate(filter)?.$all).toContainEqual({ $not: { $all: [{ kind: "Template" }, { "metadata.name": { $in: ["queue-v1beta1"] } }] } });
  expect(predicate({ ...filter, all: true })).toBeUndefined();
  const template = (version: string) => ({ kind: "Template", metadata: { name: version, annotations: { "crossplane.io/xrd-version": version } } });
  expect(olderOf([template("v1beta1"), template("v2"), template("v1")]).map((t) => t.metadata?.name)).toEqual(["v1", "v1beta1"]);
});
