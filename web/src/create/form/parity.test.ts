import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { check } from "./problems";

type Fact = { about: string; schema: unknown; value: unknown; problems: unknown[] };

// facts are validation results from the tests of the server.
function facts(): Fact[] {
  const out: Fact[] = [];
  let about = "";
  let schema: unknown;
  for (const line of readFileSync("../internal/scaffolder/validation/testdata/facts.txt", "utf8").split("\n")) {
    if (line.startsWith("# ")) {
      about = line.slice(2);
    } else if (line.startsWith("schema ")) {
      schema = JSON.parse(line.slice(7));
    } else if (line.includes("  =>  ")) {
      const [value, problems] = line.split("  =>  ") as [string, string];
      out.push({ about, schema, value: JSON.parse(value), problems: JSON.parse(problems) as unknown[] });
    }
  }
  return out;
}

// Cases that the form leaves to the server: invalid or outdated schemas, and formats that forms do not use.
const left = [
  /^a type that is a schema/,
  /^(lengths|limits) that are/,
  /^divisibleBy$/,
  /^pattern (that cannot be read|of another language)$/,
  /^format (uri-reference|json-pointer|relative-json-pointer|regex|color|utc-millisec|style)$/,
  /^required as it was once$/,
  /^(not|disallow)$/,
  /^if that is no schema$/,
  /^\$ref (by id|to nowhere|to itself)$/,
  /^schemas that are none$/,
];

test("the form never rejects what the server accepts", () => {
  const all = facts();
  expect(all.length).toBeGreaterThan(500);
  const stricter = all.filter((f) => f.problems.length === 0 && check(f.schema, f.value).length > 0);
  expect(stricter).toEqual([]);
});

test("the form rejects what the server rejects", () => {
  const differing = facts().filter((f) => !left.some((l) => l.test(f.about)) && f.problems.length > 0 && check(f.schema, f.value).length === 0);
  expect(differing).toEqual([]);
});
