import { texts } from "../text";
import { countBy, type Previewed, type View } from "./preview";

const words = texts.playground.status;

// Bidirectional control characters: in a name they would reverse the rest of the line.
const turning = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// statusOf summarizes the preview in one line.
export function statusOf(view: View, definition: Previewed | undefined): string {
  if (view.error) {
    return definition ? words.earlier : "";
  }
  if (view.stale) {
    const first = view.findings.find((f) => f.severity === "error" && f.line !== undefined);
    const what = first ? words.errorIn(first.line ?? 1, first.message) : words.nothing;
    return definition ? `${what} ${words.lastValid}` : what;
  }
  if (!definition) {
    return view.busy ? words.generating : "";
  }
  const found = countBy(view.findings);
  const parts = [words.entities(definition.entities.length)];
  if (found.error > 0) {
    parts.push(words.error(found.error));
  }
  if (found.warning > 0) {
    parts.push(words.warning(found.warning));
  }
  if (found.info > 0) {
    parts.push(words.info(found.info));
  }
  return words.line(definition.name.replace(turning, "\ufffd") || words.unnamed, parts.join(", "), view.busy);
}
