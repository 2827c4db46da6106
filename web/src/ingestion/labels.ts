import type { Run } from "../api/types";
import type { Tone } from "../components/Tag";
import { number, texts } from "../text";
import type { State } from "./queries";

const words = texts.ingestion.runs;

// Labels of states. Error and hint beside them give the details.
export const stateLabels: Record<State, string> = texts.ingestion.target.state;

// toneOf returns the tone of a state.
export function toneOf(state: State): Tone {
  switch (state) {
    case "connected":
      return "success";
    case "waiting":
      return "progress";
    case "partial":
    case "removal-pending":
      return "warning";
  }
  return "error";
}

// shortSource returns the name of a source without the prefix of its ingestor.
export function shortSource(name: string): string {
  return name.replace(/^(composerIngestor|clusterIngestor)\/(sources\/)?/, "");
}

export const triggers: Record<Run["trigger"], string> = words.triggers;

// changes are the change counts of a run, in display order.
export const changes = ["added", "updated", "removed", "unchanged", "refused"] as const;

// changedBy returns the number of entities that a run wrote or removed.
export function changedBy(run: Run): number {
  return run.added + run.updated + run.removed;
}

// describe summarizes a run in a sentence.
export function describe(run: Run): string {
  const done = changes.filter((c) => run[c] > 0).map((c) => `${number(run[c])} ${words.changes[c]}`);
  return `${done.length === 0 ? words.noChanges : words.entities(done.join(", "))}${run.failed > 0 ? words.failed(run.failed) : ""}.`;
}

// newest returns the run to show first: the last one with changes or errors, or else the last one.
export function newest(runs: Run[]): Run | undefined {
  return runs.find((r) => changedBy(r) > 0 || r.failed > 0 || r.error) ?? runs[0];
}

// sentence capitalizes the first letter.
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
