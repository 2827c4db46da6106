import { lookup } from "../components/lookup";

const origins: Record<string, string> = {
  annotation: "an annotation of the definition",
  label: "a label of the definition",
  option: "the configuration",
  definition: "the definition itself",
  default: "the default",
};

// origin describes where a value comes from.
export function origin(from: string): string {
  return lookup(origins, from) ?? from;
}
