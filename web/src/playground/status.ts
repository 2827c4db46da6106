import { countBy, type Previewed, type View } from "./preview";

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

// Bidirectional control characters: in a name they would reverse the rest of the line.
const turning = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// statusOf summarizes the preview in one line.
export function statusOf(view: View, definition: Previewed | undefined): string {
  if (view.error) {
    return definition ? "Showing the result of an earlier text." : "";
  }
  if (view.stale) {
    const first = view.findings.find((f) => f.severity === "error" && f.line !== undefined);
    return `${first ? `Error in line ${first.line}: ${first.message}.` : "No entities can be generated from this text."}${definition ? " Showing the last valid result." : ""}`;
  }
  if (!definition) {
    return view.busy ? "Generating preview…" : "";
  }
  const found = countBy(view.findings);
  const parts = [count(definition.entities.length, "entity", "entities")];
  if (found.error > 0) {
    parts.push(count(found.error, "error", "errors"));
  }
  if (found.warning > 0) {
    parts.push(count(found.warning, "warning", "warnings"));
  }
  if (found.info > 0) {
    parts.push(count(found.info, "info", "info"));
  }
  return `${definition.name.replace(turning, "\ufffd") || "Unnamed definition"}: ${parts.join(", ")}${view.busy ? " …" : ""}`;
}
