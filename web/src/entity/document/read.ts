import { parse } from "yaml";
import { texts } from "../../text";
import { isObject } from "./schema";

const words = texts.entity.document;

// longest is the maximum size of a document that is parsed in the browser.
const longest = 4 << 20;

// readDocument parses an OpenAPI document in YAML or JSON, or returns the problem.
export function readDocument(source: string): { document?: unknown; problem?: string } {
  if (source.length > longest) {
    return { problem: words.tooLarge };
  }
  let document: unknown;
  try {
    document = parse(source, { maxAliasCount: 100 });
  } catch (err) {
    return { problem: words.unreadable(err instanceof Error ? (err.message.split("\n")[0] ?? "") : String(err)) };
  }
  if (!isObject(document) || (typeof document["openapi"] !== "string" && typeof document["swagger"] !== "string")) {
    return { problem: words.onlyOpenApi };
  }
  return { document };
}
