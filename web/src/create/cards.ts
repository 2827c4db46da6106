import { annotation, annotations, refOf, specText, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { unservedBy } from "../api/unserved";

// Card is a Template as it is offered.
export type Card = {
  namespace: string;
  name: string;
  title: string;
  description: string;
  type: string;
  owner: string;
  tags: string[];
  // purpose is create, update or delete.
  purpose: string;
  // unserved are the clusters that do not serve it.
  unserved: string[];
};

export function cardOf(template: EntityPart): Card {
  const { namespace, name } = refOf(template);
  return {
    namespace,
    name,
    title: titleOf(template),
    description: template.metadata?.description ?? "",
    type: specText(template, "type") || "other",
    owner: specText(template, "owner"),
    // Who wrote the entity is no help to whoever chooses.
    tags: (template.metadata?.tags ?? []).filter((tag) => !tag.startsWith("source:")),
    purpose: annotation(template, annotations.purpose) || "create",
    unserved: distinct(unservedBy(template).map((u) => u.cluster)),
  };
}

// Wanted is which cards somebody wants to see. It is all in the address.
export type Wanted = { text: string; type: string; owner: string; all: boolean };

export function readWanted(params: URLSearchParams): Wanted {
  return { text: params.get("q") ?? "", type: params.get("type") ?? "", owner: params.get("owner") ?? "", all: params.get("all") === "true" };
}

export function writeWanted(wanted: Wanted): URLSearchParams {
  const params = new URLSearchParams();
  for (const [key, value] of [
    ["q", wanted.text],
    ["type", wanted.type],
    ["owner", wanted.owner],
    ["all", wanted.all ? "true" : ""],
  ] as const) {
    if (value !== "") {
      params.set(key, value);
    }
  }
  return params;
}

// choose returns the cards that are wanted. Templates that change or delete something that is there belong to its page, and
// are shown here only when asked for.
export function choose(cards: Card[], wanted: Wanted): Card[] {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  return cards.filter((c) => {
    const text = [c.title, c.name, c.description, c.type, c.owner, ...c.tags].join(" ").toLowerCase();
    return (wanted.all || c.purpose === "create") && (wanted.type === "" || c.type === wanted.type) && (wanted.owner === "" || c.owner === wanted.owner) && words.every((w) => text.includes(w));
  });
}

// byType groups cards, the types and the cards in the order of their names.
export function byType(cards: Card[]): [string, Card[]][] {
  const groups = new Map<string, Card[]>();
  for (const card of [...cards].sort((a, b) => a.title.localeCompare(b.title))) {
    groups.set(card.type, [...(groups.get(card.type) ?? []), card]);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

// distinct returns the values that there are, sorted.
export function distinct(values: string[]): string[] {
  return [...new Set(values.filter((v) => v !== ""))].sort((a, b) => a.localeCompare(b));
}
