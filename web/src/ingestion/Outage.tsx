import { useEffect, useRef, useState } from "react";
import { Alert, List, Text } from "@mantine/core";
import { Icon } from "../parts/Icon";
import { Time } from "../parts/Time";
import type { Source } from "./ask";
import { shortSource, stateWords, toneOf } from "./words";

// bad says whether a source is in a state somebody should know of.
export function bad(source: Source): boolean {
  const tone = toneOf(source.state);
  return tone === "bad" || tone === "doubt";
}

// How long it is told that a source is well again.
const glad = 15_000;

// useRecovered returns the names of sources that were down a moment ago and are not any more.
export function useRecovered(sources: Source[]): string[] {
  const before = useRef(new Set<string>());
  const [names, setNames] = useState<string[]>([]);
  const down = sources.filter(bad).map((s) => s.name);
  const known = sources.map((s) => s.name);
  const key = JSON.stringify([down, known]);
  useEffect(() => {
    const [nowDown, all] = JSON.parse(key) as [string[], string[]];
    const well = [...before.current].filter((name) => all.includes(name) && !nowDown.includes(name));
    before.current = new Set(nowDown);
    setNames((old) => [...old.filter((name) => !nowDown.includes(name)), ...well]);
    if (well.length === 0) {
      return;
    }
    const timer = setTimeout(() => setNames((old) => old.filter((name) => !well.includes(name))), glad);
    return () => clearTimeout(timer);
  }, [key]);
  return names;
}

function titleOf(down: Source[]): string {
  const what = down.length === 1 ? shortSource(down[0]!.name) : `${down.length} sources`;
  return down.every((s) => s.state === "partial") ? `${what} can be read in part only` : `${what} cannot be read`;
}

// Outage says what cannot be read now, and what is back.
export function Outage({ sources }: { sources: Source[] }) {
  const down = sources.filter(bad);
  const back = useRecovered(sources);
  return (
    <div role="status" aria-live="polite">
      {down.length > 0 && (
        <Alert color="red" variant="outline" icon={<Icon name="warning" />} title={titleOf(down)}>
          <List size="sm">
            {down.map((s) => (
              <List.Item key={s.name}>
                {s.name}: {stateWords[s.state]}
                {s.lastSuccess ? (
                  <>
                    , last read <Time at={s.lastSuccess} />
                  </>
                ) : (
                  ", never read yet"
                )}
              </List.Item>
            ))}
          </List>
          <Text size="sm" mt={4}>
            The catalog keeps what it had of them, marked as stale, and goes on by itself when they are back.
          </Text>
        </Alert>
      )}
      {back.length > 0 && (
        <Alert color="green" variant="outline" icon={<Icon name="check" />} mt={down.length > 0 ? "xs" : 0}>
          {back.map(shortSource).join(", ")} {back.length === 1 ? "is" : "are"} back.
        </Alert>
      )}
    </div>
  );
}
