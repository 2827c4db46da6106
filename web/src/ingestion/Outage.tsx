import { useEffect, useRef, useState } from "react";
import { Alert, Anchor, Group, Text } from "@mantine/core";
import { Link } from "react-router";
import { Icon } from "../parts/Icon";
import { Tag } from "../parts/Tag";
import { Time } from "../parts/Time";
import { listed, type Place } from "./place";

// bad reports whether a source cannot be read, wholly or in part. One with a pending removal can.
export function bad(place: Place): boolean {
  return place.state !== "removal-pending" && (place.tone === "bad" || place.tone === "doubt");
}

// How long it is told that a place is well again.
const glad = 15_000;

// useRecovered returns the names of places that were down a moment ago and are not any more.
export function useRecovered(places: Place[]): string[] {
  const before = useRef(new Set<string>());
  const [names, setNames] = useState<string[]>([]);
  const down = places.filter(bad).map((p) => p.name);
  const known = places.map((p) => p.name);
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

function titleOf(down: Place[]): string {
  const names = listed(down.map((p) => p.name));
  return down.every((p) => p.state === "partial") ? `${names} can be read in part only` : `${names} cannot be read`;
}

// wellWords says that all is well, of what there is.
function wellWords(places: Place[]): string {
  const clusters = places.filter((p) => p.cluster).length;
  const waiting = places.some((p) => p.tone === "busy");
  if (places.length === 0 || waiting) {
    return waiting ? "Some of it was not read yet" : "There is nothing to read";
  }
  if (clusters === places.length) {
    return clusters === 1 ? "The cluster can be read" : clusters === 2 ? "Both clusters can be read" : `All ${clusters} clusters can be read`;
  }
  return "Everything can be read";
}

// Outage says in a line how all of it fares: that it is well, what cannot be read now, and what is back.
export function Outage({ places, failing, entities }: { places: Place[]; failing: number; entities: number }) {
  const down = places.filter(bad);
  const up = places.filter((p) => p.tone === "good");
  const waiting = places.some((p) => p.tone === "busy");
  const pending = places.filter((p) => p.state === "removal-pending").length;
  const degraded = failing + pending > 0;
  const back = useRecovered(places);
  const oldest = down.flatMap((p) => p.staleSince ?? []).sort()[0];
  return (
    <div role="status" aria-live="polite">
      {down.length > 0 ? (
        <Alert color="red" variant="outline" icon={<Icon name="warning" />} title={titleOf(down)}>
          <Text size="sm">
            The catalog keeps what it had of {down.length === 1 ? "it" : "them"}
            {oldest && (
              <>
                , as it was <Time at={oldest} />
              </>
            )}
            , marked as stale, and goes on by itself when {down.length === 1 ? "it is" : "they are"} back.
            {up.length > 0 && ` ${listed(up.map((p) => p.name))} ${up.length === 1 ? "is" : "are"} fine.`}
          </Text>
          {down.every((p) => p.cluster) && (
            <Anchor component={Link} size="sm" to={{ pathname: "/catalog", search: new URLSearchParams(down.map((p) => ["cluster", p.name])).toString() }}>
              Show what the catalog has of {down.length === 1 ? "it" : "them"}
            </Anchor>
          )}
        </Alert>
      ) : (
        <Group gap="sm">
          <Tag tone={degraded ? "doubt" : waiting ? "busy" : "good"}>{degraded ? "degraded" : waiting ? "waiting" : "healthy"}</Tag>
          <Text>
            {wellWords(places)}
            {failing > 0 && `, but nothing can be made of ${failing === 1 ? "one definition" : `${failing} definitions`}`}
            {pending > 0 && `, but ${pending === 1 ? "a removal waits" : `${pending} removals wait`} for confirmation`}. {entities} entities in the catalog come from here.
          </Text>
        </Group>
      )}
      {back.length > 0 && (
        <Alert color="green" variant="outline" icon={<Icon name="check" />} mt="xs">
          {listed(back)} {back.length === 1 ? "is" : "are"} back.
        </Alert>
      )}
    </div>
  );
}
