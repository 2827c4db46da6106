import { describe, expect, test } from "vitest";
import type { EntityPart } from "../api/types";
import { filterCards, formatCardFilter, near, parseCardFilter } from "./cardFilter";
import { ambiguous, cardsOf, categoryCounts } from "./cards";

type More = { title?: string; description?: string; tags?: string[]; type?: string; owner?: string; version?: string; xrd?: string; from?: string; purpose?: string };

const template = (name: string, { title, description, tags, type = "infrastructure", owner = "red", version = "v1", xrd = name, from = "dev", purpose = "create" }: More = {}) =>
  ({
  kind: "Template",
  metadata: {
    name,
    title,
    description,
    tags,
    annotations: { "composer.io/xrd-name": xrd, "crossplane.io/xrd-version": version, "portal.io/discovered-from": from, "portal.io/template-purpose": purpose },
  },
  spec: { type, owner },
  }) as unknown as EntityPart;

const everything = { text: "", category: "", owner: "", all: false };

describe("cards", () => {
  test("of the versions of one definition are one", () => {
    const family = (version: string, more: More = {}) => template(`queues.x.io-${version}`, { title: `Queue ${version}`, xrd: "queues.x.io", version, ...more });
    const [card, ...rest] = cardsOf([family("v1beta1"), family("v2", { tags: ["deprecated"], title: "Queue v2 (deprecated)" }), family("v1")]);
    expect(rest).toEqual([]);
    expect(card).toMatchObject({ title: "Queue", name: "queues.x.io-v1", group: "x.io" });
    expect(card!.versions.map((v) => v.version)).toEqual(["v1", "v1beta1", "v2"]);
  });
  test("of Templates that only claim a definition stay separate", () => {
    expect(cardsOf([template("queues.x.io"), template("mine", { xrd: "queues.x.io", version: "v2" })])).toHaveLength(2);
    expect(cardsOf([template("queues.x.io"), template("queues.x.io-copy", { xrd: "queues.x.io" })])).toHaveLength(2);
  });
  test("with the same title in two API groups are told apart", () => {
    const cards = cardsOf([template("buckets.a.io", { title: "Bucket" }), template("buckets.b.io", { title: "Bucket" }), template("dbs.a.io", { title: "Database" })]);
    expect([...ambiguous(cards)]).toEqual(["Bucket"]);
  });
  test("have owner, clusters and categories", () => {
    const [card] = cardsOf([template("dbs.a.io", { owner: "red", from: "dev,prod", type: "database", tags: ["crossplane", "source:x", "v1", "sql"] })]);
    expect(card).toMatchObject({ owner: "group:default/red", clusters: ["dev", "prod"], categories: ["database", "sql"] });
  });
  test("are counted by category", () => {
    const cards = cardsOf([template("a.x.io", { tags: ["sql"] }), template("b.x.io", { tags: ["sql", "cache"] })]);
    expect(categoryCounts(cards)).toEqual([
      { value: "sql", count: 2 },
      { value: "cache", count: 1 },
    ]);
  });
});

describe("filterCards", () => {
  const cards = cardsOf([
    template("dbs.data.io", { title: "Database", description: "PostgreSQL or MySQL", tags: ["sql"], owner: "data" }),
    template("caches.mem.io", { title: "In-memory cache", description: "Sits before a database" }),
    template("dbs.data.io-delete", { title: "Delete Database", xrd: "dbs.data.io", purpose: "delete" }),
  ]);
  const titles = (text: string, more = {}) => filterCards(cards, { ...everything, text, ...more }, (ref) => (ref.endsWith("/data") ? "Données" : "")).map((c) => c.title);
  const cases: Record<string, { reason: string; text: string; want: string[] }> = {
    title: { reason: "A match in the title comes first.", text: "database", want: ["Database", "In-memory cache"] },
    words: { reason: "Every word must occur, in any order.", text: "mysql database", want: ["Database"] },
    group: { reason: "The API group is searched.", text: "mem.io", want: ["In-memory cache"] },
    tag: { reason: "Tags are searched.", text: "sql", want: ["Database"] },
    separators: { reason: "Separators do not matter.", text: "inmemory", want: ["In-memory cache"] },
    accents: { reason: "Titles of owners are searched, without accents.", text: "donnees", want: ["Database"] },
    typo: { reason: "One typo is accepted if nothing else is found.", text: "databsae", want: ["Database", "In-memory cache"] },
    none: { reason: "Nothing matches.", text: "kafka", want: [] },
  };
  test.each(Object.entries(cases))("%s", (_, c) => expect(titles(c.text), c.reason).toEqual(c.want));
  test("shows update and delete Templates on request only", () => {
    expect(titles("delete")).toEqual([]);
    expect(titles("delete", { all: true })).toEqual(["Delete Database"]);
  });
  test("is written to the URL and read from it", () => {
    const filter = { text: "a b", category: "sql", owner: "group:default/x", all: true };
    expect(parseCardFilter(formatCardFilter(filter))).toEqual(filter);
    expect(formatCardFilter(everything).toString()).toBe("");
  });
});

test.each([
  ["cache", "cache", true],
  ["cahce", "cache", true],
  ["cach", "cache", true],
  ["ccache", "cache", true],
  ["caxhe", "cache", true],
  ["chace", "kache", false],
  ["data", "cache", false],
])("near(%s, %s)", (a, b, want) => expect(near(a, b)).toBe(want));
