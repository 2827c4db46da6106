import { texts } from "../../text";
import type { Schema } from "../document/schema";
import type { Difference, Line } from "./diff";

const words = texts.entity.versions.effects;

// Effect is what a difference means for those who use the field.
export type Effect = {
  // breaking tells that a manifest of the old version may be refused by the new one, or lose a field.
  breaking: boolean;
  // says are the reasons in words.
  says: string[];
  // part tells that the field was removed together with its parent, which is counted instead.
  part: boolean;
};

// Judged is a difference with its effect.
export type Judged = Difference & { effect: Effect };

const none: Effect = { breaking: false, says: [], part: false };

// judge adds their effects to differences, breaking ones first.
export function judge(differences: Difference[]): Judged[] {
  const change = new Map(differences.map((d) => [d.path, d]));
  const judged = differences.map((d): Judged => ({ ...d, effect: effectOf(d, change.get(parentOf(d.path))) }));
  return [...judged.filter((d) => d.effect.breaking), ...judged.filter((d) => !d.effect.breaking)];
}

// countBreaking counts breaking changes. A removed object is one.
export function countBreaking(judged: Judged[]): number {
  return judged.filter((d) => d.effect.breaking && !d.effect.part).length;
}

// parentOf returns the path of the object that has a field, or an empty string.
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("."))).replace(/\[\]$/, "");
}

function effectOf({ change, left, right }: Difference, parent: Difference | undefined): Effect {
  if (change === "removed") {
    return { breaking: true, says: [words.removed], part: parent?.change === "removed" };
  }
  if (change === "added" && right) {
    // A required field of a new optional object breaks nothing.
    const breaking = right.required && !hasDefault(right) && parent?.change !== "added";
    return { breaking, says: breaking ? [words.newRequired] : [], part: false };
  }
  if (change !== "changed" || !left || !right) {
    return none;
  }
  const bad = breaks(left, right);
  const fallback = { before: shown(left.schema?.["default"]), after: shown(right.schema?.["default"]) };
  const calm = fallback.before === fallback.after ? [] : [words.default(fallback.before, fallback.after)];
  return { breaking: bad.length > 0, says: [...bad, ...calm], part: false };
}

function hasDefault(line: Line): boolean {
  return line.schema?.["default"] !== undefined;
}

// breaks returns why values of the old version may be refused by the new one.
function breaks(left: Line, right: Line): string[] {
  const found: string[] = [];
  if (!left.required && right.required && !hasDefault(right)) {
    found.push(words.required);
  }
  if (!accepts(right.type, left.type)) {
    found.push(words.type(left.type, right.type));
  }
  const lost = lostValues(left.schema, right.schema);
  if (lost === "all") {
    found.push(words.enumAdded);
  } else if (lost.length > 0) {
    found.push(words.enum(lost.join(", ")));
  }
  return [...found, ...tightened(left.schema ?? {}, right.schema ?? {})];
}

// accepts reports whether a type takes all values of another.
function accepts(type: string, other: string): boolean {
  const [own, given] = [type.split(" or "), other.split(" or ")];
  return type === "any" || given.every((g) => own.includes(g) || (g === "integer" && own.includes("number")));
}

// lostValues returns the values that an enum no longer has, or all if there was none before.
function lostValues(left: Schema | undefined, right: Schema | undefined): string[] | "all" {
  const [before, after] = [left?.["enum"], right?.["enum"]];
  if (!Array.isArray(after)) {
    return [];
  }
  if (!Array.isArray(before)) {
    return "all";
  }
  const kept = new Set(after.map(shown));
  return before.map(shown).filter((value) => !kept.has(value));
}

const lower = ["minimum", "minLength", "minItems", "minProperties"];
const upper = ["maximum", "maxLength", "maxItems", "maxProperties"];

// tightened returns the limits that exclude values which were allowed.
function tightened(left: Schema, right: Schema): string[] {
  const limit = (schema: Schema, key: string, otherwise: number) => (typeof schema[key] === "number" ? schema[key] : otherwise);
  const low = lower.filter((key) => limit(right, key, -Infinity) > limit(left, key, key === "minimum" ? -Infinity : 0));
  const high = upper.filter((key) => limit(right, key, Infinity) < limit(left, key, Infinity));
  const says = [...low, ...high].map((key) => words.limit(key, shown(right[key])));
  if (typeof right["pattern"] === "string" && right["pattern"] !== left["pattern"]) {
    says.push(words.pattern);
  }
  return says;
}

function shown(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
