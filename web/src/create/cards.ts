import { annotation, annotations, formatRef, parseRef, refOf, specText, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { unservedBy } from "../api/unserved";

// Version is one Template of a family.
export type Version = { namespace: string; name: string; version: string; deprecated: boolean };

// Card is the summary of a Template on the create page. The Templates of the versions of one definition share a card.
export type Card = {
  namespace: string;
  name: string;
  title: string;
  description: string;
  // owner is a full reference, or empty.
  owner: string;
  // categories are the tags that help users to choose.
  categories: string[];
  // purpose is create, update or delete.
  purpose: string;
  // group is the API group of the resource; empty for a Template without a definition.
  group: string;
  // clusters are the clusters that have the definition.
  clusters: string[];
  // unserved are the clusters that do not serve the resource.
  unserved: string[];
  deprecated: boolean;
  // versions has the other versions of the same definition, newest first.
  versions: Version[];
  // entity is the Template, for its icon.
  entity: EntityPart;
};

// Tags that tell how a Template was made, not what it is for.
const technical = /^(crossplane|composer|kubernetes-ingestor|infrastructure|service|other|create|update|delete|deprecated|v\d+((alpha|beta)\d+)?|\d[\d.]*)$|:/;

function categoriesOf(template: EntityPart): string[] {
  const all = [...(template.metadata?.tags ?? []), specText(template, "type")].map((tag) => tag.toLowerCase());
  return distinct(all.filter((tag) => !technical.test(tag)));
}

export function cardOf(template: EntityPart): Card {
  const { namespace, name } = refOf(template);
  const xrd = annotation(template, annotations.xrdName);
  const owner = specText(template, "owner");
  return {
    namespace,
    name,
    title: titleOf(template),
    description: template.metadata?.description ?? "",
    owner: owner === "" ? "" : formatRef(parseRef(owner, { kind: "group", namespace })),
    categories: categoriesOf(template),
    purpose: annotation(template, annotations.purpose) || "create",
    group: xrd.includes(".") ? xrd.slice(xrd.indexOf(".") + 1) : "",
    clusters: annotation(template, annotations.discoveredFrom).split(/[, ]+/).filter(Boolean),
    unserved: distinct(unservedBy(template).map((u) => u.cluster)),
    deprecated: (template.metadata?.tags ?? []).includes("deprecated"),
    versions: [],
    entity: template,
  };
}

const versionKey = "composer.io/xrd-version";

// rank orders versions as Kubernetes does: v2, v1, v1beta2, v1alpha1, then others.
function rank(version: string): number[] {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!found) {
    return [0, 0, 0];
  }
  const stage = found[2] === undefined ? 3 : found[2] === "beta" ? 2 : 1;
  return [stage, Number(found[1]), Number(found[3] ?? 0)];
}

function newer(a: Version, b: Version): number {
  const [x, y] = [[a.deprecated ? 0 : 1, ...rank(a.version)], [b.deprecated ? 0 : 1, ...rank(b.version)]];
  const at = x.findIndex((n, i) => n !== y[i]);
  return at < 0 ? a.name.localeCompare(b.name) : y[at]! - x[at]!;
}

// cardsOf returns the cards of Templates, sorted by title. The versions of one definition are one card.
export function cardsOf(templates: EntityPart[]): Card[] {
  const families = new Map<string, { card: Card; version: Version }[]>();
  for (const template of templates) {
    const card = cardOf(template);
    const xrd = annotation(template, annotations.xrdName);
    // A Template of another source may claim a definition: only a generated name belongs to the family.
    const generated = xrd !== "" && (card.name === xrd || card.name.startsWith(`${xrd}-`));
    const key = generated ? `${card.namespace}/${xrd}/${card.purpose}/${card.owner}` : `${card.namespace}/${card.name}`;
    const version = { namespace: card.namespace, name: card.name, version: annotation(template, versionKey), deprecated: card.deprecated };
    families.set(key, [...(families.get(key) ?? []), { card, version }]);
  }
  return [...families.values()].flatMap(joined).sort((a, b) => a.title.localeCompare(b.title) || a.group.localeCompare(b.group));
}

// joined returns one card for Templates of different versions.
function joined(members: { card: Card; version: Version }[]): Card[] {
  if (members.length === 1 || new Set(members.map((m) => m.version.version)).size < members.length) {
    return members.map((m) => m.card);
  }
  const sorted = [...members].sort((a, b) => newer(a.version, b.version));
  const { card, version } = sorted[0]!;
  const title = card.title.replace(/ \(deprecated\)$/, "").replace(new RegExp(`[ -]${version.version}$`), "");
  return [{ ...card, title, versions: sorted.map((m) => m.version) }];
}

// ambiguous returns the titles that cards of different API groups share.
export function ambiguous(cards: Card[]): Set<string> {
  const groups = new Map<string, string>();
  const out = new Set<string>();
  for (const { title, group, purpose } of cards) {
    const key = `${purpose} ${title}`;
    const known = groups.get(key);
    if (known !== undefined && known !== group) {
      out.add(title);
    }
    groups.set(key, known ?? group);
  }
  return out;
}

// categoryCounts returns the categories of cards with their number of cards, the most common first.
export function categoryCounts(cards: Card[]): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  cards.forEach((card) => card.categories.forEach((c) => counts.set(c, (counts.get(c) ?? 0) + 1)));
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
}

// distinct returns the distinct non-empty values, sorted.
export function distinct(values: string[]): string[] {
  return [...new Set(values.filter((v) => v !== ""))].sort((a, b) => a.localeCompare(b));
}
