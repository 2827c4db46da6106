import { expect, test } from "vitest";
import { annotation, annotations, entityPath, formatRef, parseRef, spellings } from "./entity";

test.each([
  ["component:default/shop", undefined, "component:default/shop"],
  ["Group:Platform/Team", undefined, "group:platform/Team"],
  ["team", { kind: "group" }, "group:default/team"],
  ["other/team", { kind: "group" }, "group:other/team"],
  ["team", { kind: "Group", namespace: "ns" }, "group:ns/team"],
])("parseRef parses %s", (text, defaults, want) => {
  expect(formatRef(parseRef(text, defaults))).toBe(want);
});

test("entityPath escapes its segments", () => {
  expect(entityPath({ kind: "api", namespace: "a b", name: "x/y" })).toBe("/catalog/a%20b/api/x%2Fy");
});

test("annotations are found in both vocabularies", () => {
  expect(spellings(annotations.discoveredFrom)).toEqual(["portal.io/discovered-from", "backstage.io/discovered-from"]);
  expect(spellings("portal.io/cluster-id")).toEqual(["portal.io/cluster-id", "backstage.io/kubernetes-id"]);
  expect(annotation({ metadata: { annotations: { "crossplane.io/xrd-name": "a" } } }, annotations.xrdName)).toBe("a");
  expect(annotation({ metadata: { annotations: { "composer.io/xrd-name": "b" } } }, annotations.xrdName)).toBe("b");
  expect(annotation({}, annotations.xrdName)).toBe("");
});
