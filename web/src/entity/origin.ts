import { lookup } from "../components/lookup";
import { texts } from "../text";

const origins: Record<string, string> = texts.entity.explain.origins;

// origin describes where a value comes from.
export function origin(from: string): string {
  return lookup(origins, from) ?? from;
}
