import { useQuery } from "@tanstack/react-query";
import { annotations } from "../api/entity";
import { ask, withQuery } from "../api/client";
import type { Explanation } from "../api/types";
import { explain } from "./ask";

export type Finding = Explanation["findings"][number];
export type Found = { definition: string; finding: Finding };
export type ByRule = { rule: string; severity: Finding["severity"]; found: Found[] };

// mostDefinitions are looked at; each is a question of its own.
export const mostDefinitions = 150;
const atOnce = 3;

const upstreamName = "crossplane.io/xrd-name";
const rank: Record<Finding["severity"], number> = { error: 0, warning: 1, info: 2 };

// group puts findings together by rule, the worst first, then those that are found most often.
export function group(all: Found[]): ByRule[] {
  const rules = new Map<string, ByRule>();
  for (const one of all) {
    const { rule, severity } = one.finding;
    const has = rules.get(rule);
    if (!has) {
      rules.set(rule, { rule, severity, found: [one] });
      continue;
    }
    has.found.push(one);
    if (rank[severity] < rank[has.severity]) {
      has.severity = severity;
    }
  }
  return [...rules.values()].sort((a, b) => rank[a.severity] - rank[b.severity] || b.found.length - a.found.length || a.rule.localeCompare(b.rule));
}

// definitionsIn are the names of the definitions that the catalog has entities of.
async function definitionsIn(signal: AbortSignal): Promise<string[]> {
  const facets = [annotations.xrdName, upstreamName].map((key) => `metadata.annotations.${key}`);
  const answer = await ask<{ facets: Record<string, { value: string }[]> }>(withQuery("/api/catalog/entity-facets", { facet: facets }), { signal });
  return [...new Set(Object.values(answer.facets).flatMap((values) => values.map((v) => v.value)))].sort();
}

// each does something for all names, a few at once, in their order. One that fails is left out.
export async function each<T>(names: string[], work: (name: string) => Promise<T>): Promise<T[]> {
  const out: (T | undefined)[] = [];
  let next = 0;
  const worker = async () => {
    while (next < names.length) {
      const i = next++;
      try {
        out[i] = await work(names[i]!);
      } catch {
        // It went between the two questions, or will be there next time.
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, names.length) }, worker));
  return out.filter((one): one is T => one !== undefined);
}

export type Findings = { rules: ByRule[]; looked: number; of: number };

// useFindings looks at what is known of each definition. version is anything that changes when they may have.
export function useFindings(enabled: boolean, version: string) {
  return useQuery({
    queryKey: ["ingestion", "findings", version],
    queryFn: async ({ signal }): Promise<Findings> => {
      const names = await definitionsIn(signal);
      const looked = names.slice(0, mostDefinitions);
      const known = await each(looked, (name) => {
        signal.throwIfAborted();
        return explain(name, signal);
      });
      signal.throwIfAborted();
      if (known.length === 0 && looked.length > 0) {
        throw new Error("None of the definitions could be looked at. Try again in a moment.");
      }
      const all = known.flatMap((x) => x.findings.map((finding) => ({ definition: x.name, finding })));
      return { rules: group(all), looked: known.length, of: names.length };
    },
    enabled,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
}
