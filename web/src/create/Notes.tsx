import { Alert, Text } from "@mantine/core";
import { Icon } from "../parts/Icon";
import { inWords } from "./Facts";
import type { Renewal } from "./form/renewal";
import styles from "./Steps.module.css";

// most is how many fields are named.
const most = 12;

function names(all: string[]): string {
  return all.length <= most ? all.join(", ") : `${all.slice(0, most).join(", ")} and ${all.length - most} more`;
}

function said(value: unknown): string {
  return value === undefined ? "not set" : inWords(value, {});
}

// Notes say what happened to what was typed.
export function Notes({ restored, changed, kept }: { restored: boolean; changed?: Renewal; kept: boolean }) {
  return (
    <>
      {changed && <Changed renewal={changed} />}
      {restored && !changed && (
        <Text size="sm" c="dimmed" role="status">
          What you filled in before is here again.
        </Text>
      )}
      {!kept && (
        <Text size="sm" c="dimmed" role="status">
          This browser keeps nothing for this page: what you fill in is lost when you leave it.
        </Text>
      )}
    </>
  );
}

function Changed({ renewal }: { renewal: Renewal }) {
  const { added, removed, stricter, lost, moved } = renewal;
  const only = moved.length > 0 && added.length + removed.length + stricter.length === 0;
  const points = [
    added.length > 0 && `New: ${names(added)}.`,
    removed.length > 0 && `No longer asked for: ${names(removed)}.`,
    stricter.length > 0 && `Asks for something else than before: ${names(stricter)}.`,
    ...moved.slice(0, most).map((m) => `${m.title} is ${said(m.to)} by now; it was ${said(m.from)} when you began.`),
    ...lost.slice(0, most).map((l) => `What you had filled in for ${l.title} has no place any more: ${said(l.value)}.`),
  ].filter((p): p is string => typeof p === "string");
  return (
    <Alert color="yellow" variant="outline" icon={<Icon name="warning" />} title={only ? "Somebody changed this resource since you began" : "This form has changed since you began"} role="alert">
      {points.length > 0 && (
        <ul className={styles.points}>
          {points.map((p, i) => (
            <li key={i}>{p}</li>
          ))}
        </ul>
      )}
      <Text size="sm">{`Nothing was started. ${lost.length === 0 ? "Everything you filled in is kept." : "Everything else you filled in is kept."} Look through it once more.`}</Text>
    </Alert>
  );
}
