import { stringify } from "yaml";

// toYaml writes a value as YAML: block style, no lines broken, no anchors. The library is large: only pages that are
// loaded on demand import this.
export function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
