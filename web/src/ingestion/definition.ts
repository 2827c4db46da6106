import { lookup } from "../components/lookup";
import type { Tone } from "../components/Tag";
import { texts } from "../text";
import { shortSource } from "./labels";
import type { Named } from "./queries";

const words = texts.ingestion.definitions;

export type Copy = Named["copies"][number];

// Place is a cluster, folder or repository with the copies of a definition that were found there. Both ingestors may read
// the same cluster.
export type Place = {
  name: string;
  cluster: boolean;
  selected: boolean;
  // copies are the selected ones, or all if none is.
  copies: Copy[];
  // state is the worst state of the copies.
  state: Copy["state"];
};

// Tones of states, from good to bad.
const tones: Record<Copy["state"], Tone> = { found: "plain", served: "success", stale: "warning", unserved: "error", unreadable: "error" };
const states = Object.keys(tones) as Copy["state"][];

// toneOf returns the tone of a place. What is not selected there is no success.
export function toneOf(place: Place): Tone {
  return tones[place.state];
}

// placesOf groups the copies of a definition by where they were found: those with a problem first.
export function placesOf(definition: Named): Place[] {
  const groups = new Map<string, Copy[]>();
  for (const copy of definition.copies) {
    const key = copy.cluster === undefined ? `files ${copy.source}` : `cluster ${copy.cluster}`;
    groups.set(key, [...(groups.get(key) ?? []), copy]);
  }
  return [...groups.values()].map(placeOf).sort((a, b) => states.indexOf(b.state) - states.indexOf(a.state) || a.name.localeCompare(b.name));
}

function placeOf(all: Copy[]): Place {
  const first = all[0]!;
  const selected = all.filter((c) => c.selected);
  const copies = selected.length > 0 ? selected : all;
  return {
    name: first.cluster ?? shortSource(first.source),
    cluster: first.cluster !== undefined,
    selected: selected.length > 0,
    copies,
    state: copies.map((c) => c.state).reduce((a, b) => (states.indexOf(b) > states.indexOf(a) ? b : a)),
  };
}

// ingestorOf returns the name of the ingestor that reads a source.
export function ingestorOf(source: string): string {
  const name = source.split("/")[0] ?? source;
  return lookup(texts.ingestion.ingestors, name) ?? name;
}

// namedSource returns the name of a source followed by that of its ingestor: a cluster may be read by several.
export function namedSource(source: string): string {
  return texts.ingestion.sourceOf(shortSource(source), ingestorOf(source));
}

// whyNot tells in words why a copy is not selected.
export function whyNot(copy: Copy): string {
  const change = copy.remedy?.change;
  if (!change) {
    return copy.why ?? "";
  }
  const field = words.field[change.field];
  return change.remove ? words.excludes(field, change.key) : words.missing(field, `${change.key}=${change.value ?? ""}`);
}

// reasonsOf returns the different reasons why a definition is not selected anywhere.
export function reasonsOf(definition: Named): string[] {
  return [...new Set(definition.copies.map(whyNot))].filter((why) => why !== "");
}

// yamlOf returns the change to a file as YAML.
export function yamlOf(change: NonNullable<NonNullable<Copy["remedy"]>["change"]>): string {
  return `metadata:\n  ${change.field}:\n    ${JSON.stringify(change.key).slice(1, -1)}: ${JSON.stringify(change.value ?? "")}`;
}
