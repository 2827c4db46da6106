import { List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { annotation, annotations } from "../api/entity";
import type { Entity } from "../api/types";
import { inWords, unservedBy, type Unserved } from "../api/unserved";
import type { Values } from "./form/types";
import { lockOf } from "./lock";
import { writable } from "./queries";
import { Notice } from "../components/Notice";
import { texts } from "../text";
import styles from "./Steps.module.css";

const words = texts.create.template;

// useLock returns why a Template cannot be run with these values; empty if it can.
export function useLock(template: Entity | undefined, values: Values): Unserved[] {
  const clusters = useQuery({
    queryKey: ["writable"],
    queryFn: ({ signal }) => writable(signal),
    enabled: template !== undefined && unservedBy(template).length > 0,
    staleTime: 60_000,
  });
  return lockOf(template, values, clusters.data?.length === 1 ? clusters.data[0] : undefined);
}

// UnservedNote lists the clusters that do not serve the resource, with reasons. The form is locked if the selected cluster
// is one of them.
export function UnservedNote({ template, lock }: { template: Entity | undefined; lock: Unserved[] }) {
  const unserved = template ? unservedBy(template) : [];
  if (!template || unserved.length === 0) {
    return null;
  }
  const locked = lock.length > 0;
  const clusters = [...new Set((locked ? lock : unserved).map((u) => u.cluster))].join(", ");
  const name = annotation(template, annotations.xrdName);
  return (
    <Notice
      tone={locked ? "error" : "warning"}
      title={locked ? words.locked(clusters) : words.unserved(clusters)}
      role={locked ? "alert" : "note"}
      className={styles.form}
    >
      <List size="sm">
        {unserved.map((u) => (
          <List.Item key={`${u.cluster}/${u.condition}`} style={{ overflowWrap: "anywhere" }}>{words.condition(u.cluster, name, inWords(u))}</List.Item>
        ))}
      </List>
      <Text size="sm" mt={4}>
        {locked ? words.lockedHint : words.unservedHint}
      </Text>
    </Notice>
  );
}
