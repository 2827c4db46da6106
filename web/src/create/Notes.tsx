import { Text } from "@mantine/core";
import { inWords } from "./InputSummary";
import type { FormUpdate } from "./form/formUpdate";
import { Notice } from "../components/Notice";
import styles from "./Steps.module.css";

// most is the maximum number of fields to list.
const most = 12;

function names(all: string[]): string {
  return all.length <= most ? all.join(", ") : `${all.slice(0, most).join(", ")} and ${all.length - most} more`;
}

function said(value: unknown): string {
  return value === undefined ? "not set" : inWords(value, {});
}

// Notes tell what happened to the input: restored, changed or not saved.
export function Notes({ restored, changed, kept }: { restored: boolean; changed?: FormUpdate; kept: boolean }) {
  return (
    <>
      {changed && <Changed update={changed} />}
      {restored && !changed && (
        <Text size="sm" c="dimmed" role="status">
          Your previous input was restored.
        </Text>
      )}
      {!kept && (
        <Text size="sm" c="dimmed" role="status">
          This browser cannot save your input. It is lost when you leave this page.
        </Text>
      )}
    </>
  );
}

function Changed({ update }: { update: FormUpdate }) {
  const { added, removed, stricter, lost, moved } = update;
  const only = moved.length > 0 && added.length + removed.length + stricter.length === 0;
  const points = [
    added.length > 0 && `New fields: ${names(added)}.`,
    removed.length > 0 && `Removed fields: ${names(removed)}.`,
    stricter.length > 0 && `Changed fields: ${names(stricter)}.`,
    ...moved.slice(0, most).map((m) => `${m.title} is now ${said(m.to)} (was ${said(m.from)}).`),
    ...lost.slice(0, most).map((l) => `Your value for ${l.title} was dropped: ${said(l.value)}.`),
  ].filter((p): p is string => typeof p === "string");
  return (
    <Notice tone="warning" title={only ? "This resource changed while you were editing" : "This form changed while you were editing"} role="alert">
      {points.length > 0 && (
        <ul className={styles.points}>
          {points.map((p, i) => (
            <li key={i}>{p}</li>
          ))}
        </ul>
      )}
      <Text size="sm">{`No task was started. ${lost.length === 0 ? "All of your input is kept." : "The rest of your input is kept."} Review it again.`}</Text>
    </Notice>
  );
}
