import type { Tone } from "../components/Tag";
import type { Source, State } from "./queries";
import { toneOf } from "./labels";
import { texts } from "../text";

// Target is a cluster, folder or repository with all the sources that read it.
export type Target = {
  name: string;
  cluster: boolean;
  // state is the worst state of the sources.
  state: State;
  tone: Tone;
  sources: Source[];
  // lastSuccess is when all sources were last read; undefined if one never was.
  lastSuccess?: string;
  lastAttempt?: string;
  counts: [string, number][];
  // stale are the object types that may be out of date, and staleSince is since when.
  stale: string[];
  staleSince?: string;
};

const tones: Tone[] = ["success", "progress", "warning", "error"];

// targetsOf groups sources by what they read: those with problems first, then clusters.
export function targetsOf(sources: Source[]): Target[] {
  const groups = new Map<string, Source[]>();
  for (const source of sources) {
    const key = source.cluster === undefined ? `files ${source.name}` : `cluster ${source.cluster}`;
    groups.set(key, [...(groups.get(key) ?? []), source]);
  }
  return [...groups.values()].map(targetOf).sort((a, b) => tones.indexOf(b.tone) - tones.indexOf(a.tone) || Number(b.cluster) - Number(a.cluster) || a.name.localeCompare(b.name));
}

function targetOf(sources: Source[]): Target {
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
    stale: staleWords(stale.map(([list]) => objectTypeOf(list)), known),
    staleSince: stale.map(([, since]) => since).sort()[0],
  };
}

// staleWords returns the stale object types. Types without objects are left out, unless nothing is known.
function staleWords(stale: string[], known: [string, number][]): string[] {
  const all = [...new Set(stale)].sort(byOrder);
  const some = all.filter((word) => known.some(([has]) => has === word));
  return some.length > 0 ? some : all;
}

// objectTypeOf returns the object type of a list; the rest of its name identifies the list.
export function objectTypeOf(list: string): string {
  return list.split(" ")[0] ?? list;
}

// counts returns the number of objects by type. Sources of the same target see the same objects.
function counts(sources: Source[]): [string, number][] {
  const out = new Map<string, number>();
  for (const source of sources) {
    const own = new Map<string, number>();
    for (const [list, n] of Object.entries(source.objects ?? {})) {
      own.set(objectTypeOf(list), (own.get(objectTypeOf(list)) ?? 0) + n);
    }
    own.forEach((n, word) => out.set(word, Math.max(n, out.get(word) ?? 0)));
  }
  return [...out].sort(([a], [b]) => byOrder(a, b));
}

// objectTypes returns the types of objects that targets have, in display order.
export function objectTypes(targets: Target[]): string[] {
  return [...new Set(targets.flatMap((t) => t.counts.map(([type]) => type)))].sort(byOrder);
}

const words = ["definitions", "compositions", "composites", "workloads"];

function byOrder(a: string, b: string): number {
  return order(a) - order(b) || a.localeCompare(b);
}

function order(word: string): number {
  const i = words.indexOf(word);
  return i < 0 ? words.length : i;
}

// joinNames joins names as in a sentence.
export function joinNames(names: string[]): string {
  return names.length < 2 ? (names[0] ?? "") : texts.ingestion.status.and(names.slice(0, -1).join(", "), names.at(-1) ?? "");
}
