import type { Tone } from "../parts/Tag";
import { lookup } from "../parts/lookup";

// What the states of tasks and steps are called, and how they are shown.
const states: Record<string, { word: string; tone: Tone }> = {
  open: { word: "waiting", tone: "busy" },
  processing: { word: "running", tone: "busy" },
  completed: { word: "done", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  cancelled: { word: "cancelled", tone: "doubt" },
  skipped: { word: "skipped", tone: "plain" },
  "": { word: "waiting", tone: "plain" },
};

export function stateOf(status: string): { word: string; tone: Tone } {
  return lookup(states, status) ?? { word: status, tone: "plain" };
}

export const taskStates = ["open", "processing", "completed", "failed", "cancelled"];
