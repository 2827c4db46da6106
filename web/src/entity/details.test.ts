import { expect, test } from "vitest";
import { commandFor, mostRows, rowsOf, secretsOf } from "./details";

test("rowsOf flattens fields and leaves out those of Crossplane", () => {
  const spec = { size: "small", network: { ports: [80, 443], tags: {} }, replicas: 0, rules: [{ a: 1 }], crossplane: { x: 1 }, resourceRefs: [], empty: null };
  expect(rowsOf(spec).rows).toEqual([
    { path: "size", value: "small" },
    { path: "network.ports", value: "80, 443" },
    { path: "network.tags", value: "{}" },
    { path: "replicas", value: "0" },
    { path: "rules", value: '[{"a":1}]' },
    { path: "empty", value: "null" },
  ]);
  expect(rowsOf({ conditions: [], address: "a.example.org" }).rows).toEqual([{ path: "address", value: "a.example.org" }]);
});

test("rowsOf is bounded for a status of a megabyte", () => {
  const status = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, "x".repeat(1000)]));
  const { rows, total } = rowsOf(status);
  expect([rows.length, total]).toEqual([mostRows, 5000]);
  expect(rows[0]!.value.length).toBeLessThan(600);
});

test("rowsOf accepts anything", () => {
  for (const odd of [undefined, null, "text", 1, [], {}]) {
    expect(rowsOf(odd)).toEqual({ rows: [], total: 0 });
  }
});

test("secretsOf finds Secrets by name, and only valid names", () => {
  const object = (spec: unknown) => ({ metadata: { namespace: "shop" }, spec });
  expect(secretsOf(object({ writeConnectionSecretToRef: { name: "db" }, adminSecretRef: { name: "admin", namespace: "ops" } }))).toEqual([
    { name: "db", namespace: "shop" },
    { name: "admin", namespace: "ops" },
  ]);
  expect(secretsOf(object({ writeConnectionSecretToRef: { name: "x; rm -rf /" } }))).toEqual([]);
  expect(secretsOf(object({ writeConnectionSecretToRef: "db" }))).toEqual([]);
  expect(commandFor({ name: "db", namespace: "shop" })).toContain("kubectl get secret db --namespace shop ");
});
