import { useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ask, withQuery } from "../api/client";
import type { Schemas } from "../api/types";

export type Preview = Schemas["Preview"];
export type Previewed = Schemas["PreviewDefinition"];
export type Finding = Schemas["PreviewFinding"];
export type Severity = Finding["severity"];

export const profiles = ["composerIngestor", "clusterIngestor", "cli"] as const;
export type Profile = (typeof profiles)[number];
export const vocabularies = ["auto", "portal", "upstream"] as const;
export type Words = (typeof vocabularies)[number];

// How is how a preview is made.
export type How = { profile: Profile; words?: Words };

// View is what there is to show for a text.
export type View = {
  // shown is the newest result that has something to show, which may be of an older text.
  shown?: Preview;
  // stale says that shown is of an older text, because the one that is there now makes nothing.
  stale: boolean;
  // findings are those of the text that was looked at last.
  findings: Finding[];
  passed: Preview["passed"];
  // busy says that the text has changed since.
  busy: boolean;
  error: unknown;
  retry: () => void;
};

// showable says whether something was made.
export function showable(p: Preview): boolean {
  return p.definitions.some((d) => d.entities.length > 0);
}

// findingsOf are all findings of a preview, in the order of the text; what has no place comes first.
export function findingsOf(p: Preview): Finding[] {
  return [...p.findings, ...p.definitions.flatMap((d) => d.findings)].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) || a.rule.localeCompare(b.rule),
  );
}

// countBy counts findings by how bad they are.
export function countBy(findings: Finding[]): Record<Severity, number> {
  const out = { error: 0, warning: 0, info: 0 };
  for (const f of findings) {
    out[f.severity]++;
  }
  return out;
}

// usePreview asks the portal what it would make of a text, once nobody has typed for a moment. A question that has been
// overtaken is cancelled.
export function usePreview(text: string, how: How): View {
  const [settled] = useDebouncedValue(text, 300);
  const empty = settled.trim() === "";
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    queryKey: ["preview", how.profile, how.words, settled],
    queryFn: ({ signal }) =>
      ask<Preview>(withQuery("/api/composer-ingestor/preview", how), { text: { body: settled, type: "application/yaml" }, signal }),
    enabled: !empty,
    placeholderData: keepPreviousData,
    // Each text is a key of its own: what was typed over need not be kept for long.
    gcTime: 10_000,
    staleTime: Infinity,
  });
  const [shown, setShown] = useState<Preview>();
  const now = empty ? undefined : data;
  if (empty && shown) {
    setShown(undefined);
  } else if (now && now !== shown && showable(now)) {
    setShown(now);
  }
  return {
    shown: empty ? undefined : shown,
    stale: now !== undefined && !isPlaceholderData && now !== shown && !showable(now),
    findings: now && !error ? findingsOf(now) : [],
    passed: now?.passed ?? [],
    busy: settled !== text || (isFetching && !empty),
    error: empty ? null : error,
    retry: () => void refetch(),
  };
}
