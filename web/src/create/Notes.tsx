import { useState } from "react";
import { Button, Group, Text } from "@mantine/core";
import { relative } from "../components/Time";
import { texts } from "../text";
import { inWords } from "./InputSummary";
import type { FormUpdate } from "./form/formUpdate";
import { Notice } from "../components/Notice";
import styles from "./Steps.module.css";

const words = texts.create.template;

// most is the maximum number of fields to list.
const most = 12;

function names(all: string[]): string {
  return all.length <= most ? all.join(", ") : words.andMore(all.slice(0, most).join(", "), all.length - most);
}

function said(value: unknown): string {
  return value === undefined ? words.notSet : inWords(value, {});
}

// Notes tell what happened to the input: restored, changed or not saved.
export function Notes({ restored, copied, changed, kept, onDiscard }: { restored?: number; copied: boolean; changed?: FormUpdate; kept: boolean; onDiscard: () => void }) {
  const [now] = useState(() => Date.now());
  return (
    <>
      {changed && <Changed update={changed} />}
      {(restored !== undefined || copied) && !changed && (
        <Group gap="sm" role="status">
          <Text size="sm" c="dimmed">
            {copied || restored === undefined ? words.copied : words.draft(relative(restored, now))}
          </Text>
          {!copied && (
            <Button size="compact-sm" variant="default" onClick={onDiscard}>
              {words.discard}
            </Button>
          )}
        </Group>
      )}
      {!kept && (
        <Text size="sm" c="dimmed" role="status">
          {words.notKept}
        </Text>
      )}
    </>
  );
}

function Changed({ update }: { update: FormUpdate }) {
  const { added, removed, stricter, lost, moved } = update;
  const only = moved.length > 0 && added.length + removed.length + stricter.length === 0;
  const points = [
    added.length > 0 && words.added(names(added)),
    removed.length > 0 && words.removed(names(removed)),
    stricter.length > 0 && words.stricter(names(stricter)),
    ...moved.slice(0, most).map((m) => words.moved(m.title, said(m.to), said(m.from))),
    ...lost.slice(0, most).map((l) => words.lost(l.title, said(l.value))),
  ].filter((p): p is string => typeof p === "string");
  return (
    <Notice tone="warning" title={only ? words.resourceChanged : words.changed} role="alert">
      {points.length > 0 && (
        <ul className={styles.points}>
          {points.map((p, i) => (
            <li key={i}>{p}</li>
          ))}
        </ul>
      )}
      <Text size="sm">{words.notStarted(lost.length === 0)}</Text>
    </Notice>
  );
}
