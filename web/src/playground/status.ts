import { countBy, type Previewed, type View } from "./preview";

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

// Letters that turn the direction of what follows: in a name they would turn the rest of the line around.
const turning = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// statusOf says in a line what is shown.
export function statusOf(view: View, definition: Previewed | undefined): string {
  if (view.error) {
    return definition ? "What is shown is of an older text." : "";
  }
  if (view.stale) {
    const first = view.findings.find((f) => f.severity === "error" && f.line !== undefined);
    return `${first ? `Line ${first.line} is in the way: ${first.message}.` : "Nothing can be made of the text as it is."}${definition ? " What is shown is the last version that worked." : ""}`;
  }
  if (!definition) {
    return view.busy ? "Looking at it…" : "";
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
    parts.push(count(found.info, "remark", "remarks"));
  }
  return `${definition.name.replace(turning, "\ufffd") || "A definition without a name"}: ${parts.join(", ")}${view.busy ? " …" : ""}`;
}
