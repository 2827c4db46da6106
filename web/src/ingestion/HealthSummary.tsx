import { useEffect, useRef, useState } from "react";
import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "react-router";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { sentence, stateLabels } from "./labels";
import { joinNames, type Target } from "./target";
import { Notice } from "../components/Notice";
import { texts } from "../text";

const words = texts.ingestion.status;

// isDown reports whether a target cannot be read, completely or in part. A pending removal is not an outage.
export function isDown(target: Target): boolean {
  return target.state !== "removal-pending" && (target.tone === "error" || target.tone === "warning");
}

// recoveredFor is how long a recovery is shown, in milliseconds.
const recoveredFor = 15_000;

// useRecovered returns the names of targets that have just recovered.
export function useRecovered(targets: Target[]): string[] {
  const before = useRef(new Set<string>());
  const [names, setNames] = useState<string[]>([]);
  const down = targets.filter(isDown).map((p) => p.name);
  const known = targets.map((p) => p.name);
  const key = JSON.stringify([down, known]);
  useEffect(() => {
    const [nowDown, all] = JSON.parse(key) as [string[], string[]];
    const well = [...before.current].filter((name) => all.includes(name) && !nowDown.includes(name));
    before.current = new Set(nowDown);
    setNames((old) => [...old.filter((name) => !nowDown.includes(name)), ...well]);
    if (well.length === 0) {
      return;
    }
    const timer = setTimeout(() => setNames((old) => old.filter((name) => !well.includes(name))), recoveredFor);
    return () => clearTimeout(timer);
  }, [key]);
  return names;
}

function titleOf(down: Target[]): string {
  const names = joinNames(down.map((p) => p.name));
  return down.every((p) => p.state === "partial") ? words.partly(names) : words.down(names);
}

// connectedText describes targets without outage.
function connectedText(targets: Target[]): string {
  const clusters = targets.filter((p) => p.cluster).length;
  const waiting = targets.some((p) => p.tone === "progress");
  if (targets.length === 0 || waiting) {
    return waiting ? words.waitingFor : words.none;
  }
  return clusters === targets.length ? words.clustersConnected(clusters) : words.allConnected;
}

// Reason says in a line why a target cannot be read: its state, and the cause at the end of the error. The error itself is in
// the table.
function Reason({ target, named }: { target: Target; named: boolean }) {
  const why = target.sources.find((s) => s.state === target.state)?.lastError?.split(": ").at(-1);
  const reason = sentence([stateLabels[target.state], why].filter(Boolean).join(": "));
  return (
    <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
      {named ? words.reason(target.name, reason) : words.onlyReason(reason)}
    </Text>
  );
}

// HealthSummary summarizes the health of all targets: connected, down and recovered.
export function HealthSummary({ targets, failing, entities }: { targets: Target[]; failing: number; entities: number }) {
  const down = targets.filter(isDown);
  const up = targets.filter((p) => p.tone === "success");
  const waiting = targets.some((p) => p.tone === "progress");
  const pending = targets.filter((p) => p.state === "removal-pending").length;
  const degraded = failing + pending > 0;
  const back = useRecovered(targets);
  const oldest = down.flatMap((p) => p.staleSince ?? []).sort()[0];
  return (
    <div role="status" aria-live="polite">
      {down.length > 0 ? (
        <Notice tone="error" title={titleOf(down)}>
          {down.map((p) => (
            <Reason key={`${p.cluster} ${p.name}`} target={p} named={down.length > 1} />
          ))}
          <Text size="sm">
            {words.kept}
            {oldest && (
              <>
                , {words.lastRead} <Time at={oldest} />
              </>
            )}
            . {words.returns}
            {up.length > 0 && ` ${words.up(joinNames(up.map((p) => p.name)), up.length > 1)}`}
          </Text>
          {down.every((p) => p.cluster) && (
            <Anchor component={Link} size="sm" to={{ pathname: "/catalog", search: new URLSearchParams(down.map((p) => ["cluster", p.name])).toString() }}>
              {words.inCatalog(down.length > 1)}
            </Anchor>
          )}
        </Notice>
      ) : (
        <Group gap="sm">
          <Tag tone={degraded ? "warning" : waiting ? "progress" : "success"}>{degraded ? words.degraded : waiting ? words.waiting : words.healthy}</Tag>
          <Text size="sm">
            {connectedText(targets)}
            {failing > 0 && words.butFailed(failing)}
            {pending > 0 && words.butPending(pending)}. {words.ingested(entities)}
          </Text>
        </Group>
      )}
      {back.length > 0 && (
        <Notice tone="success" mt="xs">
          {words.back(joinNames(back), back.length > 1)}
        </Notice>
      )}
    </div>
  );
}
