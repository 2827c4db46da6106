import { describe, expect, it } from "vitest";
import type { EntityPart } from "../../api/types";
import { count, diff, formLines, linesOf, most } from "./diff";
import { compareVersions } from "../../api/version";
import { choose, fieldsOfEntity, sidesOf } from "./sides";

const before = {
  required: ["region"],
  properties: {
    region: { type: "string", enum: ["a", "b"] },
    fifo: { type: "boolean" },
    backup: { type: "object", properties: { days: { type: "integer", default: 7 } } },
  },
};
const after = {
  properties: {
    region: { type: "string", enum: ["a", "b"] },
    ordering: { type: "string" },
    backup: { type: "object", properties: { days: { type: "integer", default: 14 } } },
  },
};

describe("diff", () => {
  it("reports added, removed and changed fields in order", () => {
    const found = diff(linesOf(before, before), linesOf(after, after));
    expect(found.map((d) => `${d.change} ${d.path}`)).toEqual(["changed region", "removed fifo", "added ordering", "same backup", "changed backup.days"]);
    expect(count(found)).toEqual({ added: 1, removed: 1, changed: 2, same: 1 });
    expect(found[0]!.left!.required).toBe(true);
    expect(found[0]!.right!.required).toBe(false);
  });

  it("reports no changes for equal schemas", () => {
    expect(count(diff(linesOf(before, before), linesOf(before, before)))).toMatchObject({ added: 0, removed: 0, changed: 0 });
  });
});

describe("linesOf", () => {
  it("follows references, lists and maps, and stops at recursion", () => {
    const document = {
      components: { schemas: { Tree: { type: "object", properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/components/schemas/Tree" } } } } } },
    };
    const lines = linesOf(document, { $ref: "#/components/schemas/Tree" });
    expect(lines.slice(0, 3).map((l) => `${l.path} ${l.type}`)).toEqual(["name string", "children list of object", "children[].name string"]);
    expect(lines.length).toBeLessThan(most);
  });

  it("is limited", () => {
    const properties = Object.fromEntries(Array.from({ length: most + 10 }, (_, i) => [`f${i}`, { type: "string" }]));
    expect(linesOf({}, { properties })).toHaveLength(most);
  });
});

describe("formLines", () => {
  it("includes all pages and conditional fields", () => {
    const pages = [
      { title: "One", properties: { name: { type: "string" } } },
      { properties: { kind: { enum: ["x"] } }, dependencies: { kind: { oneOf: [{ properties: { kind: { enum: ["x"] }, size: { type: "integer" } } }] } } },
    ];
    expect(formLines(pages).map((l) => l.path)).toEqual(["name", "kind", "size"]);
    expect(formLines(undefined)).toEqual([]);
  });
});

function part(kind: string, name: string, version: string, purpose = ""): EntityPart {
  const annotations = { "composer.io/xrd-version": version, ...(purpose ? { "portal.io/template-purpose": purpose } : {}) };
  return { kind, metadata: { name, annotations } } as EntityPart;
}

describe("sides", () => {
  const sides = sidesOf([part("Template", "q-v1beta1", "v1beta1"), part("Template", "q-v1", "v1"), part("Template", "q-del", "v1", "delete"), part("API", "q-api", "v1"), part("Resource", "q-xrd", "v1")]);

  it("are the create forms, newest first, then the schemas", () => {
    expect(sides.map((s) => s.ref)).toEqual(["template:default/q-v1", "template:default/q-v1beta1", "api:default/q-api"]);
  });

  it("are compared with the previous version", () => {
    expect(choose(sides, "template:default/q-v1")).toMatchObject({ left: { version: "v1beta1" }, right: { version: "v1" } });
    expect(choose(sides, "resource:default/q-xrd").right?.ref).toBe("template:default/q-v1");
    expect(choose(sides, "api:default/q-api").left).toBeUndefined();
  });

  it("sorts versions as Kubernetes does", () => {
    expect(["v2", "v1", "v1alpha1", "odd", "v1beta2", "v1beta10"].sort(compareVersions)).toEqual(["odd", "v1alpha1", "v1beta2", "v1beta10", "v1", "v2"]);
  });

  it("reads the schema of an API's document", () => {
    const document = { paths: { "/a": { post: { requestBody: { content: { "application/json": { schema: before } } } } } } };
    const api = { kind: "API", spec: { definition: "text" } } as unknown as EntityPart;
    expect(fieldsOfEntity(api, () => document).map((l) => l.path)).toContain("backup.days");
    expect(fieldsOfEntity(api, () => undefined)).toEqual([]);
  });
});
