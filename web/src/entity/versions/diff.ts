import { fieldsOf, isObject, notesOf, text, typeOf, type Schema } from "../document/schema";

// Line is a field of a form or schema.
export type Line = { path: string; type: string; required: boolean; notes: string[]; description: string };

// most limits the comparison: a schema may have thousands of fields or be recursive.
export const most = 5_000;
const deepest = 16;

// linesOf lists the fields of a schema by path, nested ones after their parent.
export function linesOf(document: unknown, schema: unknown): Line[] {
  const lines: Line[] = [];
  const visit = (raw: unknown, prefix: string, depth: number) => {
    for (const field of fieldsOf(document, raw)) {
      if (lines.length >= most || depth > deepest) {
        return;
      }
      const type = typeOf(document, field.raw);
      const path = `${prefix}${field.name}`;
      lines.push({ path, type, required: field.required, notes: notesOf(field.schema), description: text(field.schema["description"]) });
      visit(field.raw, `${path}${field.schema["type"] === "array" ? "[]" : ""}.`, depth + 1);
    }
  };
  visit(schema, "", 0);
  return lines;
}

// pagesOf returns the pages of a Template's form.
export function pagesOf(parameters: unknown): Schema[] {
  return (Array.isArray(parameters) ? parameters : [parameters]).filter(isObject);
}

// formLines lists the fields of all pages of a form, including conditional ones.
export function formLines(parameters: unknown): Line[] {
  const seen = new Set<string>();
  return pagesOf(parameters)
    .flatMap((page) => branchesOf(page))
    .flatMap((page) => linesOf(page, page))
    .filter((line) => !seen.has(line.path) && seen.add(line.path))
    .slice(0, most);
}

// branchesOf returns a page and the schemas of its conditions.
function branchesOf(page: Schema): Schema[] {
  const out = [page];
  const visit = (node: unknown, depth: number) => {
    if (depth > 6 || out.length > 200) {
      return;
    }
    if (Array.isArray(node)) {
      node.forEach((n) => visit(n, depth + 1));
    } else if (isObject(node)) {
      if (isObject(node["properties"])) {
        out.push(node);
      }
      for (const key of ["oneOf", "anyOf", "allOf", "then", "else"]) {
        visit(node[key], depth + 1);
      }
    }
  };
  for (const key of ["allOf", "oneOf", "anyOf", "then", "else"]) {
    visit(page[key], 0);
  }
  for (const one of Object.values(isObject(page["dependencies"]) ? page["dependencies"] : {})) {
    visit(one, 0);
  }
  return out;
}

export type Change = "added" | "removed" | "changed" | "same";

// Difference is a field on both sides or on one of them.
export type Difference = { path: string; change: Change; left?: Line; right?: Line };

// diff compares two lists of fields in the order of the right side; removed fields keep their position.
export function diff(left: Line[], right: Line[]): Difference[] {
  const old = new Map(left.map((line) => [line.path, line]));
  const kept = new Set(right.map((line) => line.path));
  // Removed fields follow their previous predecessor.
  const after = new Map<string, Line[]>();
  let last = "";
  for (const line of left) {
    if (kept.has(line.path)) {
      last = line.path;
    } else {
      after.set(last, [...(after.get(last) ?? []), line]);
    }
  }
  const gone = (path: string): Difference[] => (after.get(path) ?? []).map((line) => ({ path: line.path, change: "removed", left: line }));
  return [
    ...gone(""),
    ...right.flatMap((line): Difference[] => {
      const before = old.get(line.path);
      const change = before === undefined ? "added" : same(before, line) ? "same" : "changed";
      return [{ path: line.path, change, left: before, right: line }, ...gone(line.path)];
    }),
  ];
}

function same(a: Line, b: Line): boolean {
  return a.type === b.type && a.required === b.required && a.description === b.description && a.notes.join("\n") === b.notes.join("\n");
}

// count counts the differences by type.
export function count(differences: Difference[]): Record<Change, number> {
  const counts: Record<Change, number> = { added: 0, removed: 0, changed: 0, same: 0 };
  for (const d of differences) {
    counts[d.change]++;
  }
  return counts;
}
