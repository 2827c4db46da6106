import type { Tone } from "../components/Tag";
import { lookup } from "../components/lookup";

// Labels and tones of task and step statuses.
const states: Record<string, { word: string; tone: Tone }> = {
  open: { word: "queued", tone: "progress" },
  processing: { word: "running", tone: "progress" },
  completed: { word: "done", tone: "success" },
  failed: { word: "failed", tone: "error" },
  cancelled: { word: "cancelled", tone: "warning" },
  skipped: { word: "skipped", tone: "plain" },
  "": { word: "pending", tone: "plain" },
};

export function stateOf(status: string): { word: string; tone: Tone } {
  return lookup(states, status) ?? { word: status, tone: "plain" };
}

export const taskStates = ["open", "processing", "completed", "failed", "cancelled"];
