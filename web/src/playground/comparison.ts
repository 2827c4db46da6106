import { useCallback, useEffect, useRef, useState } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ApiError, fetchJson, fetchRaw, withQuery } from "../api/client";
import { readLines } from "../api/eventStream";
import type { Schemas } from "../api/types";
import { texts } from "../text";

export type Comparison = Schemas["Comparison"];
export type Compared = Comparison["definitions"][number];
export type Impact = Schemas["Impact"];
export type Effect = Schemas["ImpactEffect"];

const at = "/api/composer-ingestor/impact";

// pause is how long the text must rest before it is compared.
const pause = 300;

const bodyOf = (text: string) => ({ body: text, type: "application/yaml" });

// View is the state of a comparison.
type View = {
  empty: boolean;
  // comparison is the latest result. It is stale if it belongs to an earlier text.
  comparison?: Comparison;
  stale: boolean;
  // nothing tells that the text has no definition.
  nothing: boolean;
  error: unknown;
  retry: () => void;
};

// useComparison compares a text with the ingested definitions when the user stops typing. An outdated request is canceled.
export function useComparison(text: string): View {
  const [settled] = useDebouncedValue(text, pause);
  const empty = settled.trim() === "";
  const { data, error, refetch } = useQuery({
    queryKey: ["comparison", settled],
    queryFn: ({ signal }) => fetchJson<Comparison>(withQuery(at, { impact: false }), { text: bodyOf(settled), signal }),
    enabled: !empty,
    // Each text has its own cache key: drop old ones soon.
    gcTime: 10_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const [last, setLast] = useState<Comparison>();
  if (empty && last) {
    setLast(undefined);
  } else if (!empty && data && data !== last) {
    setLast(data);
  }
  const comparison = empty ? undefined : (data ?? last);
  const outdated = comparison !== undefined && data === undefined;
  // Most comparisons are so quick that a mark would only flicker.
  const [stale] = useDebouncedValue(outdated, pause);
  const nothing = !empty && lacksDefinition(error);
  return { empty, comparison: nothing ? undefined : comparison, stale: stale && outdated, nothing, error: empty || nothing ? null : error, retry: () => void refetch() };
}

// lacksDefinition reports whether a text was not compared because it has no definition.
function lacksDefinition(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400 && /^The body has no definition/.test(error.message);
}

// concernsResources reports whether a change of a definition can affect live resources.
export function concernsResources(d: Compared): boolean {
  return d.status !== "added" && d.changes.some((c) => c.severity !== "info");
}

// Check is a check of the live resources, for one text.
type Check = {
  text: string;
  // by identifies the check, and aborts it.
  by: AbortController;
  // checked is how many resources were validated so far.
  checked: number;
  // result and error are what the check ended with.
  result?: Comparison;
  error?: unknown;
};

type Line = { checked?: number; result?: Comparison; error?: string };

// useCheck validates the live resources against a text on demand. A running check is canceled when the text changes.
export function useCheck(text: string) {
  const [check, setCheck] = useState<Check>();
  const current = useRef<AbortController>(undefined);
  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = undefined;
  }, []);
  useEffect(() => cancel, [text, cancel]);

  const start = useCallback(async () => {
    cancel();
    const by = new AbortController();
    current.current = by;
    const change = (to: Partial<Check> | undefined) => setCheck((now) => (now?.by !== by ? now : to && { ...now, ...to }));
    setCheck({ text, by, checked: 0 });
    try {
      change(await readCheck(text, by.signal, (checked) => change({ checked })));
    } catch (error) {
      change(by.signal.aborted ? undefined : { error });
    }
  }, [text, cancel]);

  return { check, running: check !== undefined && !check.result && check.error === undefined, stale: check !== undefined && check.text !== text, start: () => void start(), cancel };
}

// readCheck requests a check and returns its result.
async function readCheck(text: string, signal: AbortSignal, onProgress: (checked: number) => void): Promise<{ result: Comparison }> {
  const answer = await fetchRaw(at, { text: bodyOf(text), headers: { Accept: "application/x-ndjson" }, signal });
  let last: Line = {};
  await readLines(answer, (line) => {
    last = line as Line;
    if (last.checked !== undefined) {
      onProgress(last.checked);
    }
  });
  if (!last.result) {
    throw new Error(last.error || texts.playground.changes.ended);
  }
  return { result: last.result };
}
