import { annotation, annotations } from "../api/entity";
import type { Card } from "./cards";

// CardFilter selects cards. It is stored in the URL.
export type CardFilter = { text: string; category: string; owner: string; all: boolean };

export function parseCardFilter(params: URLSearchParams): CardFilter {
  return { text: params.get("q") ?? "", category: params.get("category") ?? params.get("type") ?? "", owner: params.get("owner") ?? "", all: params.get("all") === "true" };
}

export function formatCardFilter(filter: CardFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const [key, value] of [
    ["q", filter.text],
    ["category", filter.category],
    ["owner", filter.owner],
    ["all", filter.all ? "true" : ""],
  ] as const) {
    if (value !== "") {
      params.set(key, value);
    }
  }
  return params;
}

// plain returns a text without case, accents and separators between words.
function plain(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[-_./:\s]+/g, " ");
}

// Texts are cached by card: they are searched on every key press.
const texts = new WeakMap<Card, { title: string; words: string; joined: string }>();

function textOf(card: Card): { title: string; words: string; joined: string } {
  let known = texts.get(card);
  if (!known) {
    const all = [card.title, card.name, card.description, card.group, card.owner, annotation(card.entity, annotations.xrdName), ...(card.entity.metadata?.tags ?? []), ...card.categories, ...card.clusters];
    const words = plain(all.join(" "));
    known = { title: plain(card.title), words, joined: words.replaceAll(" ", "") };
    texts.set(card, known);
  }
  return known;
}

// near reports whether two words differ by at most one typo: a character more, less, changed, or two swapped.
export function near(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) {
    return false;
  }
  let i = 0;
  while (i < a.length && a[i] === b[i]) {
    i++;
  }
  const [x, y] = [a.slice(i), b.slice(i)];
  return x === y || x.slice(1) === y || x === y.slice(1) || x.slice(1) === y.slice(1) || (x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2));
}

// filterCards returns the matching cards; those with a matching title come first. Every word must occur; a word with a typo
// is accepted if nothing else is found. Update and delete Templates are offered on the page of the resource, and here only on
// request.
export function filterCards(cards: Card[], filter: CardFilter, ownerTitle: (ref: string) => string = () => ""): Card[] {
  const chosen = cards.filter((c) => (filter.all || c.purpose === "create") && (filter.category === "" || c.categories.includes(filter.category)) && (filter.owner === "" || c.owner === filter.owner));
  const words = plain(filter.text).split(" ").filter(Boolean);
  if (words.length === 0) {
    return chosen;
  }
  const occurs = (c: Card, w: string) => textOf(c).words.includes(w) || textOf(c).joined.includes(w) || plain(ownerTitle(c.owner)).includes(w);
  let found = chosen.filter((c) => words.every((w) => occurs(c, w)));
  if (found.length === 0) {
    found = chosen.filter((c) => words.every((w) => occurs(c, w) || (w.length >= 4 && textOf(c).words.split(" ").some((other) => near(w, other)))));
  }
  const inTitle = (c: Card) => (words.every((w) => textOf(c).title.includes(w)) ? 0 : 1);
  return [...found].sort((a, b) => inTitle(a) - inTitle(b));
}
