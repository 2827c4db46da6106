import type { Run } from "../api/types";
import type { Tone } from "../parts/Tag";
import type { State } from "./ask";

// States in words. What is not said of a state here is said by the error and the hint beside it.
export const stateWords: Record<State, string> = {
  connected: "connected",
  waiting: "not read yet",
  partial: "partly read",
  "removal-pending": "removal to confirm",
  settings: "settings are wrong",
  unreachable: "unreachable",
  timeout: "too slow",
  certificate: "certificate not trusted",
  unauthorized: "not let in",
  forbidden: "not allowed",
  absent: "not there",
  server: "has an error",
  spoilt: "cannot be read",
  canceled: "interrupted",
  failed: "failed",
};

// toneOf says how a state is to be shown.
export function toneOf(state: State): Tone {
  switch (state) {
    case "connected":
      return "good";
    case "waiting":
      return "busy";
    case "partial":
    case "removal-pending":
      return "doubt";
  }
  return "bad";
}

// shortSource is a source's name without the part that all have in common.
export function shortSource(name: string): string {
  return name.replace(/^(composerIngestor|clusterIngestor)\/(sources\/)?/, "");
}

export const triggers: Record<Run["trigger"], string> = { schedule: "on schedule", manual: "asked for", watch: "watched" };

// changes are what a run did to the catalog, in the order in which they are shown.
export const changes = ["added", "updated", "removed", "unchanged", "refused"] as const;

// changedBy is how many entities a run wrote or removed.
export function changedBy(run: Run): number {
  return run.added + run.updated + run.removed;
}

// describe says what a run did, in a sentence.
export function describe(run: Run): string {
  const done = changes.filter((c) => run[c] > 0).map((c) => `${run[c]} ${c}`);
  const failed = run.failed > 0 ? `; nothing could be made of ${run.failed}` : "";
  return `${done.length === 0 ? "Nothing was to be done" : `Entities: ${done.join(", ")}`}${failed}.`;
}

// newest is the run that is worth showing first: the last one that did something or went wrong, or else the last.
export function newest(runs: Run[]): Run | undefined {
  return runs.find((r) => changedBy(r) > 0 || r.failed > 0 || r.error) ?? runs[0];
}

// sentence is a text that begins as sentences do.
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
