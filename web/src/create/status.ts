import type { Tone } from "../components/Tag";
import { lookup } from "../components/lookup";
import { texts } from "../text";

// tones are the tones of task and step statuses.
const tones: Record<string, Tone> = { open: "progress", processing: "progress", completed: "success", failed: "error", cancelled: "warning" };

export function stateOf(status: string): { word: string; tone: Tone } {
  return { word: lookup(texts.create.status, status) ?? status, tone: lookup(tones, status) ?? "plain" };
}

export const taskStates = ["open", "processing", "completed", "failed", "cancelled"];
