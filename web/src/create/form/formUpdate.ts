import { diff, formLines, type Line } from "../../entity/versions/diff";
import { isSecret } from "./draft";
import { allProperties, carryOver, withDefaults, type Page } from "./pages";
import { isHidden, isObject, type Values } from "./types";

// FormUpdate is the difference between two versions of a form, with the titles of its fields.
export type FormUpdate = {
  added: string[];
  removed: string[];
  // stricter are fields with a changed schema.
  stricter: string[];
  // lost are values that the new version does not accept.
  lost: { title: string; value: unknown }[];
  // moved are values that changed in the resource that prefills the form.
  moved: { title: string; from: unknown; to: unknown }[];
};

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

// compared returns the fields without defaults: a changed default is not a changed form.
function compared(pages: Page[]): Line[] {
  return formLines(pages.map((p) => p.schema)).map((line) => ({ ...line, description: "", notes: line.notes.filter((n) => !n.startsWith("default ")) }));
}

// titled names a field by the title of the first segment of its path.
function titled(pages: Page[]): (path: string) => string {
  const known = allProperties(pages);
  return (path) => {
    const [first = "", ...rest] = path.split(".");
    const schema = known.get(first.replace(/\[\]$/, ""));
    return [typeof schema?.["title"] === "string" ? schema["title"] : first, ...rest].join(" / ");
  };
}

// rebase applies the changes between base and mine to theirs. Lists are one value.
export function rebase(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (same(base, mine)) {
    return theirs;
  }
  if (!isObject(mine) || !isObject(theirs)) {
    return mine;
  }
  const was = isObject(base) ? base : {};
  const out: Values = {};
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const next = rebase(was[key], mine[key], theirs[key]);
    if (next !== undefined || key in mine) {
      out[key] = next;
    }
  }
  return out;
}

// FilledForm is a form and its initial values.
export type FilledForm = { pages: Page[]; start: Values };

// applyFormUpdate moves the input of one version of a form to another and returns the difference.
export function applyFormUpdate(before: FilledForm, after: FilledForm, typed: Values): { values: Values; update: FormUpdate } {
  const base = withDefaults(before.pages, before.start);
  const there = withDefaults(after.pages, after.start);
  const filled = Object.keys(before.start).length > 0;
  const mine = filled ? (rebase(base, typed, there) as Values) : typed;
  const over = carryOver(after.pages, mine);
  const [oldTitle, newTitle] = [titled(before.pages), titled(after.pages)];
  const old = allProperties(before.pages);
  const fields = diff(compared(before.pages), compared(after.pages));
  const named = (change: string, title: (path: string) => string) => [...new Set(fields.filter((d) => d.change === change && !isHidden(old.get(d.path))).map((d) => title(d.path)))];
  const moved = filled ? Object.keys({ ...before.start, ...after.start }).filter((key) => !isHidden(old.get(key)) && !same(before.start[key], after.start[key])) : [];
  return {
    values: withDefaults(after.pages, { ...over.values }),
    update: {
      added: named("added", newTitle),
      removed: named("removed", oldTitle),
      stricter: named("changed", newTitle),
      lost: over.lost.filter((key) => !isHidden(old.get(key))).map((key) => ({ title: oldTitle(key), value: isSecret(old.get(key) ?? {}) ? "•••••" : mine[key] })),
      moved: moved.map((key) => ({ title: newTitle(key), from: before.start[key], to: after.start[key] })),
    },
  };
}
