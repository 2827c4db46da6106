import { useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { fetchJson, withQuery } from "../api/client";
import type { Schemas } from "../api/types";

export type Preview = Schemas["Preview"];
export type Previewed = Schemas["PreviewDefinition"];
export type Finding = Schemas["PreviewFinding"];
export type Severity = Finding["severity"];

export const profiles = ["composerIngestor", "clusterIngestor", "cli"] as const;
export type Profile = (typeof profiles)[number];
export const vocabularies = ["auto", "portal", "upstream"] as const;
export type Vocabulary = (typeof vocabularies)[number];

// PreviewOptions are the options of a preview.
export type PreviewOptions = { profile: Profile; words?: Vocabulary };

// View is the state of the preview.
export type View = {
  // shown is the latest result with entities, which may belong to an older text.
  shown?: Preview;
  // stale tells that shown belongs to an older text, because the current one generates nothing.
  stale: boolean;
  // findings are those of the latest response.
  findings: Finding[];
  passed: Preview["passed"];
  // busy tells that the text has changed since the latest response.
  busy: boolean;
  error: unknown;
  retry: () => void;
};

// hasEntities reports whether a preview has entities.
export function hasEntities(p: Preview): boolean {
  return p.definitions.some((d) => d.entities.length > 0);
}

// findingsOf returns all findings of a preview in text order; those without a line come first.
export function findingsOf(p: Preview): Finding[] {
  return [...p.findings, ...p.definitions.flatMap((d) => d.findings)].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) || a.rule.localeCompare(b.rule),
  );
}

// countBy counts findings by severity.
export function countBy(findings: Finding[]): Record<Severity, number> {
  const out = { error: 0, warning: 0, info: 0 };
  for (const f of findings) {
    out[f.severity]++;
  }
  return out;
}

// usePreview requests a preview when the user stops typing. An outdated request is canceled.
export function usePreview(text: string, options: PreviewOptions): View {
  const [settled] = useDebouncedValue(text, 300);
  const empty = settled.trim() === "";
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    queryKey: ["preview", options.profile, options.words, settled],
    queryFn: ({ signal }) =>
      fetchJson<Preview>(withQuery("/api/composer-ingestor/preview", options), { text: { body: settled, type: "application/yaml" }, signal }),
    enabled: !empty,
    placeholderData: keepPreviousData,
    // Each text has its own cache key: drop old ones soon.
    gcTime: 10_000,
    staleTime: Infinity,
  });
  const [shown, setShown] = useState<Preview>();
  const now = empty ? undefined : data;
  if (empty && shown) {
    setShown(undefined);
  } else if (now && now !== shown && hasEntities(now)) {
    setShown(now);
  }
  return {
    shown: empty ? undefined : shown,
    stale: now !== undefined && !isPlaceholderData && now !== shown && !hasEntities(now),
    findings: now && !error ? findingsOf(now) : [],
    passed: now?.passed ?? [],
    busy: settled !== text || (isFetching && !empty),
    error: empty ? null : error,
    retry: () => void refetch(),
  };
}
