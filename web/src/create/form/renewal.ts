import { diff, formLines, type Line } from "../../entity/versions/diff";
import { isSecret } from "./draft";
import { allProperties, carryOver, withDefaults, type Page } from "./pages";
import { isHidden, isObject, type Values } from "./types";

// Renewal says how a form differs from the one that was filled in, in the titles of its fields.
export type Renewal = {
  added: string[];
  removed: string[];
  // stricter are fields that ask for something else than they did.
  stricter: string[];
  // lost is what was filled in and has no place any more.
  lost: { title: string; value: unknown }[];
  // moved is what became different in the resource that the form is filled from.
  moved: { title: string; from: unknown; to: unknown }[];
};

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

// compared is a field without its default: what is proposed may differ without the form doing so.
function compared(pages: Page[]): Line[] {
  return formLines(pages.map((p) => p.schema)).map((line) => ({ ...line, description: "", notes: line.notes.filter((n) => !n.startsWith("default ")) }));
}

// titled names fields as the form does: by the title of the first step of their path.
function titled(pages: Page[]): (path: string) => string {
  const known = allProperties(pages);
  return (path) => {
    const [first = "", ...rest] = path.split(".");
    const schema = known.get(first.replace(/\[\]$/, ""));
    return [typeof schema?.["title"] === "string" ? schema["title"] : first, ...rest].join(" / ");
  };
}

// rebase brings changes that somebody made to one state of something over to another: where they changed nothing, the other
// state counts. Lists are one value.
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

// FilledForm is a form and the values that it came with.
export type FilledForm = { pages: Page[]; start: Values };

// renewed brings what was typed into one version of a form into another, and says what is different.
export function renewed(before: FilledForm, after: FilledForm, typed: Values): { values: Values; renewal: Renewal } {
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
    renewal: {
      added: named("added", newTitle),
      removed: named("removed", oldTitle),
      stricter: named("changed", newTitle),
      lost: over.lost.filter((key) => !isHidden(old.get(key))).map((key) => ({ title: oldTitle(key), value: isSecret(old.get(key) ?? {}) ? "•••••" : mine[key] })),
      moved: moved.map((key) => ({ title: newTitle(key), from: before.start[key], to: after.start[key] })),
    },
  };
}
