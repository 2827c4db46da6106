import { parse } from "yaml";
import { isObject } from "./schema";

// longest is how much of a document is parsed in the page.
const longest = 4 << 20;

// readDocument reads an OpenAPI document, written as YAML or JSON. What is none says why.
export function readDocument(source: string): { document?: unknown; problem?: string } {
  if (source.length > longest) {
    return { problem: "It is too long to be shown for reading." };
  }
  let document: unknown;
  try {
    document = parse(source, { maxAliasCount: 100 });
  } catch (err) {
    return { problem: `It is neither YAML nor JSON: ${err instanceof Error ? (err.message.split("\n")[0] ?? "") : String(err)}` };
  }
  if (!isObject(document) || (typeof document["openapi"] !== "string" && typeof document["swagger"] !== "string")) {
    return { problem: "Only OpenAPI documents are shown for reading; this is another kind." };
  }
  return { document };
}
