import { stringify } from "yaml";

// toYaml writes a value as YAML in block style, without line folding and anchors. The library is large: import this only
// from pages that are loaded on demand.
export function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
