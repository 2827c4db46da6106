import type { EntityPart } from "../api/types";
import { texts } from "../text";
import { lookup } from "../components/lookup";

// Group is the relations of one type.
export type Group = { type: string; title: string; refs: string[] };

// Titles of relation types, in display order.
const titles: Record<string, string> = texts.entity.relations.types;

const order = Object.keys(titles);

// relationTitle returns the title of a relation type; unknown types are split into words.
export function relationTitle(type: string): string {
  return lookup(titles, type) ?? (type.charAt(0).toUpperCase() + type.slice(1)).replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}

// groupRelations groups relations by type without duplicates.
export function groupRelations(entity: EntityPart): Group[] {
  const found = new Map<string, Set<string>>();
  for (const { type = "", targetRef = "" } of entity.relations ?? []) {
    found.set(type, (found.get(type) ?? new Set()).add(targetRef));
  }
  const place = (type: string) => (order.includes(type) ? order.indexOf(type) : order.length);
  return [...found]
    .map(([type, refs]) => ({ type, title: relationTitle(type), refs: [...refs].sort() }))
    .sort((a, b) => place(a.type) - place(b.type) || a.type.localeCompare(b.type));
}
