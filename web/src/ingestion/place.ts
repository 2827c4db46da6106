import type { Tone } from "../parts/Tag";
import type { Source, State } from "./ask";
import { toneOf } from "./words";

// Place is a cluster, or a folder or repository, with all the sources that read it: what people ask about is the
// cluster, not who reads it.
export type Place = {
  name: string;
  cluster: boolean;
  // state is the worst of the sources'.
  state: State;
  tone: Tone;
  sources: Source[];
  // lastSuccess is when all of it was read last; undefined if some of it never was.
  lastSuccess?: string;
  lastAttempt?: string;
  counts: [string, number][];
  // stale are the words for what may be out of date, and since when.
  stale: string[];
  staleSince?: string;
};

const tones: Tone[] = ["good", "busy", "doubt", "bad"];

// placesOf puts sources together by what they read, clusters first.
export function placesOf(sources: Source[]): Place[] {
  const groups = new Map<string, Source[]>();
  for (const source of sources) {
    const key = source.cluster === undefined ? `files ${source.name}` : `cluster ${source.cluster}`;
    groups.set(key, [...(groups.get(key) ?? []), source]);
  }
  return [...groups.values()].map(placeOf).sort((a, b) => Number(b.cluster) - Number(a.cluster) || a.name.localeCompare(b.name));
}

function placeOf(sources: Source[]): Place {
  const first = sources[0]!;
  const worst = sources.reduce((a, b) => (tones.indexOf(toneOf(b.state)) > tones.indexOf(toneOf(a.state)) ? b : a));
  const stale = sources.flatMap((s) => Object.entries(s.stale ?? {}));
  const known = counts(sources);
  return {
    name: first.cluster ?? first.name.replace(/^.*\/sources\//, ""),
    cluster: first.cluster !== undefined,
    state: worst.state,
    tone: toneOf(worst.state),
    sources,
    lastSuccess: sources.every((s) => s.lastSuccess) ? sources.map((s) => s.lastSuccess!).sort()[0] : undefined,
    lastAttempt: sources.flatMap((s) => s.lastAttempt ?? []).sort().at(-1),
    counts: known,
    stale: staleWords(stale.map(([list]) => wordOf(list)), known),
    staleSince: stale.map(([, since]) => since).sort()[0],
  };
}

// staleWords are the words for stale lists. Of what there is none of nothing is out of date, unless nothing is known at all.
function staleWords(stale: string[], known: [string, number][]): string[] {
  const all = [...new Set(stale)].sort(byOrder);
  const some = all.filter((word) => known.some(([has]) => has === word));
  return some.length > 0 ? some : all;
}

// wordOf is what a list is of; the rest of its name says which one.
export function wordOf(list: string): string {
  return list.split(" ")[0] ?? list;
}

// counts are how many things are known, by what they are. Sources that read the same thing see the same.
function counts(sources: Source[]): [string, number][] {
  const out = new Map<string, number>();
  for (const source of sources) {
    const own = new Map<string, number>();
    for (const [list, n] of Object.entries(source.objects ?? {})) {
      own.set(wordOf(list), (own.get(wordOf(list)) ?? 0) + n);
    }
    own.forEach((n, word) => out.set(word, Math.max(n, out.get(word) ?? 0)));
  }
  return [...out].sort(([a], [b]) => byOrder(a, b));
}

const words = ["definitions", "compositions", "composites", "workloads"];

function byOrder(a: string, b: string): number {
  return order(a) - order(b) || a.localeCompare(b);
}

function order(word: string): number {
  const i = words.indexOf(word);
  return i < 0 ? words.length : i;
}

// counted is a number of things in words.
export function counted(n: number, word: string): string {
  return `${n} ${n === 1 ? word.replace(/s$/, "") : word}`;
}

// listed names things as a sentence does.
export function listed(names: string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
