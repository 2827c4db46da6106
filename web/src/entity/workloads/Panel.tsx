import { useState } from "react";
import { Button, Checkbox, Group, NativeSelect, Stack, Text } from "@mantine/core";
import type { Entity } from "../../api/types";
import { ErrorAlert, Loading } from "../../components/State";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import { texts } from "../../text";
import type { Place, Pod } from "./facts";
import { useEvents, useLog } from "./queries";
import styles from "./Workloads.module.css";

const words = texts.entity.workloads;

// Events lists the events about an object.
export function Events({ entity, of }: { entity: Entity; of: Place }) {
  const query = useEvents(entity, of);
  const items = query.data?.items;
  return (
    <Stack gap="sm">
      <Button size="xs" variant="default" style={{ alignSelf: "flex-start" }} loading={query.isFetching} onClick={() => void query.refetch()}>
        {words.refresh}
      </Button>
      {query.error && <ErrorAlert error={query.error} />}
      {query.isPending && <Loading label={words.loadingEvents} lines={2} />}
      {items?.length === 0 && <Text c="dimmed">{texts.entity.events.none}</Text>}
      {items && items.length > 0 && (
        <ul className={styles.events}>
          {items.map((e, i) => (
            <li key={i}>
              <Group gap="xs">
                <Tag tone={e.type === "Warning" ? "warning" : "plain"}>{e.reason || e.type}</Tag>
                <Text component="span" size="xs" c="dimmed">
                  {e.last && <Time at={e.last} />}
                  {e.count > 1 && ` · ${words.times(e.count)}`}
                </Text>
              </Group>
              <Text size="sm" className={styles.message}>
                {e.message}
              </Text>
            </li>
          ))}
        </ul>
      )}
    </Stack>
  );
}

// Log shows the end of the log of a container of a pod.
export function Log({ entity, pod }: { entity: Entity; pod: Pod }) {
  const [container, setContainer] = useState(pod.containers[0] ?? "");
  const [previous, setPrevious] = useState(false);
  const query = useLog(entity, pod, container, previous);
  return (
    <Stack gap="sm">
      <Group align="end" gap="sm">
        <NativeSelect label={words.container} size="xs" data={pod.containers} value={container} onChange={(e) => setContainer(e.currentTarget.value)} />
        <Checkbox label={words.previous} size="xs" checked={previous} onChange={(e) => setPrevious(e.currentTarget.checked)} pb={6} />
        <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
          {words.refresh}
        </Button>
      </Group>
      {query.error && <ErrorAlert error={query.error} />}
      {query.isPending && <Loading label={words.loadingLog} lines={6} />}
      {query.data !== undefined && !query.error && (
        <pre className={styles.log} tabIndex={0} role="region" aria-label={words.logOf(container)}>
          {query.data || words.emptyLog}
        </pre>
      )}
      {query.data && (
        <Text size="xs" c="dimmed">
          {words.lastLines}
        </Text>
      )}
    </Stack>
  );
}
