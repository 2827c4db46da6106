import { describe, expect, test } from "vitest";
import type { Entity } from "../../api/types";
import { evaluate, Unsupported } from "./expression";
import { filled, hasManifest, render } from "./render";

const parameters = { name: "a", size: 3, on: false, none: null, list: [1], labels: { x: "y" }, "odd-name": "z" };

describe("evaluate", () => {
  const cases: Record<string, { reason: string; source: string; want: unknown }> = {
    member: { reason: "A parameter.", source: " parameters.size ", want: 3 },
    bracket: { reason: "A parameter whose name is not an identifier.", source: 'parameters["odd-name"]', want: "z" },
    missing: { reason: "A missing parameter is undefined.", source: "parameters.nothing.at.all", want: undefined },
    inherited: { reason: "Members of every object are not parameters.", source: "parameters.constructor", want: undefined },
    object: { reason: "An object with a condition.", source: '{"name": parameters.name} if parameters.name else undefined', want: { name: "a" } },
    unless: { reason: "and not.", source: '{"name": parameters.name} if parameters.name and not parameters.labels else undefined', want: undefined },
    or: { reason: "or returns the first value that holds.", source: "parameters.on or parameters.name", want: "a" },
    equal: { reason: "A comparison.", source: 'parameters.name == "a"', want: true },
    unequal: { reason: "A negated comparison.", source: "parameters.name != 'a'", want: false },
    nested: { reason: "An object in an object.", source: '{"a": {"b": parameters.size} if parameters.size else undefined, "c": [1, 2]} if parameters.on or parameters.size else undefined', want: { a: { b: 3 }, c: [1, 2] } },
    escaped: { reason: "An escaped quote in a text.", source: '"a\\"b"', want: 'a"b' },
  };
  test.each(Object.entries(cases))("%s", (_, c) => expect(evaluate(c.source, { parameters }), c.reason).toEqual(c.want));
  test.each(["parameters.list | join(',')", "user.ref", "secrets.token", "1 + 2", "parameters.name.trim()", "parameters.", "{", "not"])("leaves %s to the server", (source) => {
    expect(() => evaluate(source, { parameters })).toThrow(Unsupported);
  });
});

describe("filled", () => {
  test("leaves undefined fields out and keeps types", () => {
    expect(filled({ a: "${{ parameters.size }}", b: "${{ parameters.nothing }}", c: ["${{ parameters.nothing }}", "x"], d: "${{ parameters.on }}" }, { parameters })).toEqual({ a: 3, c: ["x"], d: false });
  });
  test("inserts values into text", () => {
    expect(filled("${{ parameters.name }}-${{ parameters.size }}-${{ parameters.nothing }}", { parameters })).toBe("a-3-");
  });
  test("keeps what only the server can evaluate", () => {
    expect(filled({ a: "${{ user.ref }}", b: 'x ${{ "}}" | upper }}' }, { parameters })).toEqual({ a: "${{ user.ref }}", b: 'x ${{ "}}" | upper }}' });
  });
});

describe("render", () => {
  const apply = { id: "apply", action: "kubernetes:apply", if: '${{ parameters.delivery == "apply" }}', input: { manifest: { kind: "Bucket", spec: { size: "${{ parameters.size }}", none: "${{ parameters.none }}" } } } };
  const template = (steps: unknown[]) => ({ spec: { steps } }) as unknown as Entity;
  test("writes the manifests of the steps that run", () => {
    const other = { ...apply, if: '${{ parameters.delivery == "change" }}', input: { manifest: { kind: "Other" } } };
    expect(render(template([apply, other]), { delivery: "apply", size: 3 })).toBe("kind: Bucket\nspec:\n  size: 3\n");
  });
  test("writes the same manifest of two steps once", () => {
    expect(render(template([{ ...apply, if: undefined }, { ...apply, if: undefined }]), {})).toBe("kind: Bucket\nspec: {}\n");
  });
  test("separates manifests", () => {
    expect(render(template([{ input: { manifests: [{ kind: "A" }, { kind: "B" }] } }]), {})).toBe("kind: A\n---\nkind: B\n");
  });
  test("knows Templates without manifests", () => {
    expect(hasManifest(template([{ input: { name: "x" } }, 1, {}]))).toBe(false);
    expect(hasManifest(template([apply]))).toBe(true);
    expect(hasManifest(undefined)).toBe(false);
  });
});
