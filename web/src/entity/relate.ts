import type { EntityPart } from "../api/types";
import { lookup } from "../parts/lookup";

// Group is the relations of one type.
export type Group = { type: string; title: string; refs: string[] };

// How relations are called on a page, in the order in which they are shown.
const titles: Record<string, string> = {
  dependsOn: "Depends on",
  dependencyOf: "Needed by",
  providesApi: "Provides",
  apiProvidedBy: "Provided by",
  consumesApi: "Consumes",
  apiConsumedBy: "Consumed by",
  hasPart: "Has parts",
  partOf: "Part of",
  ownerOf: "Owns",
  ownedBy: "Owned by",
  parentOf: "Parent of",
  childOf: "Child of",
  hasMember: "Members",
  memberOf: "Member of",
};

const order = Object.keys(titles);

// relationTitle is what a type of relation is called; one nobody knows is written as it is, in words.
export function relationTitle(type: string): string {
  return lookup(titles, type) ?? (type.charAt(0).toUpperCase() + type.slice(1)).replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}

// groupRelations puts relations of a type together, each target once.
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
