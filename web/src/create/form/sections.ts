import { propertiesOf } from "./prune";
import { isHidden, isObject, type Schema } from "./types";
import { split } from "./split";
import { shownTitle } from "./units";

// Entry is a field or section of a page in its table of contents.
export type Entry = { name: string; title: string; section: boolean };

// Pages with more top-level fields or more fields overall have a table of contents.
const manyEntries = 8;
const manyFields = 30;

function isAdvanced(schema: Schema): boolean {
  return isObject(schema["ui:options"]) && schema["ui:options"]["advanced"] === true;
}

function isSection(schema: Schema): boolean {
  return ["properties", "additionalProperties", "items"].some((key) => isObject(schema[key]));
}

// contentsOf returns the table of contents of a page: its sections if there are several, otherwise all of its fields. It is
// empty for a short page.
export function contentsOf(page: Schema): Entry[] {
  const all = [...propertiesOf({ properties: page["properties"] }).schemas]
    .filter(([, schema]) => !isHidden(schema) && !isAdvanced(schema))
    .map(([name, schema]) => ({ name, title: shownTitle(schema, name), section: isSection(schema) }));
  if (all.length < 2 || (all.length <= manyEntries && split(page).fields <= manyFields)) {
    return [];
  }
  return all;
}
