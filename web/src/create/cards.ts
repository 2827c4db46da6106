import { annotation, annotations, refOf, specText, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { unservedBy } from "../api/unserved";

// Card is the summary of a Template on the create page.
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
  // unserved are the clusters that do not serve the resource.
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
    // Source tags do not help users to choose.
    tags: (template.metadata?.tags ?? []).filter((tag) => !tag.startsWith("source:")),
    purpose: annotation(template, annotations.purpose) || "create",
    unserved: distinct(unservedBy(template).map((u) => u.cluster)),
  };
}

// CardFilter selects cards. It is stored in the URL.
export type CardFilter = { text: string; type: string; owner: string; all: boolean };

export function parseCardFilter(params: URLSearchParams): CardFilter {
  return { text: params.get("q") ?? "", type: params.get("type") ?? "", owner: params.get("owner") ?? "", all: params.get("all") === "true" };
}

export function formatCardFilter(filter: CardFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const [key, value] of [
    ["q", filter.text],
    ["type", filter.type],
    ["owner", filter.owner],
    ["all", filter.all ? "true" : ""],
  ] as const) {
    if (value !== "") {
      params.set(key, value);
    }
  }
  return params;
}

// filterCards returns the matching cards. Update and delete Templates are offered on the page of the resource, and here
// only on request.
export function filterCards(cards: Card[], filter: CardFilter): Card[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return cards.filter((c) => {
    const text = [c.title, c.name, c.description, c.type, c.owner, ...c.tags].join(" ").toLowerCase();
    return (filter.all || c.purpose === "create") && (filter.type === "" || c.type === filter.type) && (filter.owner === "" || c.owner === filter.owner) && words.every((w) => text.includes(w));
  });
}

// byType groups cards by type, sorted by name.
export function byType(cards: Card[]): [string, Card[]][] {
  const groups = new Map<string, Card[]>();
  for (const card of [...cards].sort((a, b) => a.title.localeCompare(b.title))) {
    groups.set(card.type, [...(groups.get(card.type) ?? []), card]);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

// distinct returns the distinct non-empty values, sorted.
export function distinct(values: string[]): string[] {
  return [...new Set(values.filter((v) => v !== ""))].sort((a, b) => a.localeCompare(b));
}
