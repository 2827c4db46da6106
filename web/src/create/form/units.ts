import type { Schema } from "./types";

// Units by the words that end a title or follow "in" in a description.
const units: [unit: string, words: RegExp][] = [
  ...["KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "Ki", "Mi", "Gi", "Ti", "Mbps", "Gbps"].map((unit): [string, RegExp] => [unit, new RegExp(`^${unit}s?$`)]),
  ["KB", /^kilobytes$/i],
  ["MB", /^megabytes$/i],
  ["GB", /^gigabytes$/i],
  ["TB", /^terabytes$/i],
  ["MiB", /^mebibytes$/i],
  ["GiB", /^gibibytes$/i],
  ["bytes", /^bytes$/i],
  ["ms", /^(ms|millis|milliseconds)$/i],
  ["seconds", /^(seconds|secs)$/i],
  ["minutes", /^(minutes|mins)$/i],
  ["hours", /^hours$/i],
  ["days", /^days$/i],
  ["weeks", /^weeks$/i],
  ["%", /^(percent|percentage)$/i],
];

function unitOfWord(word: string): string | undefined {
  return units.find(([, words]) => words.test(word))?.[0];
}

// Measured is the title of a field without its unit, and the unit.
export type Measured = { title: string; unit: string };

// measured returns the unit of a number if its title or description tells exactly one.
export function measured(schema: Schema): Measured | undefined {
  const type = Array.isArray(schema["type"]) ? schema["type"].find((t) => t !== "null") : schema["type"];
  if ((type !== "integer" && type !== "number") || Array.isArray(schema["enum"])) {
    return undefined;
  }
  const title = typeof schema["title"] === "string" ? schema["title"] : "";
  const last = /^(.*\S)[\s-]+\(?([A-Za-z]+)\)?$/.exec(title);
  const byTitle = last && unitOfWord(last[2]!);
  if (byTitle) {
    return { title: last[1]!, unit: byTitle };
  }
  // The whole title is a unit, such as Days: it needs none.
  if (title === "" || unitOfWord(title)) {
    return undefined;
  }
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  const found = [...description.matchAll(/(?:\bin |\(in |\()([A-Za-z]+)\b|^([A-Z][a-z]+) of\b|\b(percentage) of\b/g)].map((m) => unitOfWord(m[1] ?? m[2] ?? m[3] ?? ""));
  const distinct = [...new Set(found.filter((u) => u !== undefined))];
  return distinct.length === 1 ? { title, unit: distinct[0]! } : undefined;
}

// shownTitle returns the title of a field without its unit, or its name.
export function shownTitle(schema: Schema | undefined, name: string): string {
  const title = (schema && measured(schema)?.title) ?? schema?.["title"];
  return typeof title === "string" && title !== "" ? title : name;
}
