import { useState } from "react";
import { Button, Checkbox, Group, NativeSelect, Stack, Text, Title } from "@mantine/core";
import type { Entity } from "../../api/types";
import { ErrorAlert, Loading } from "../../components/State";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import type { Place, Pod } from "./facts";
import { useEvents, useLog } from "./queries";
import styles from "./Workloads.module.css";

// Events lists the events about an object.
export function Events({ entity, of }: { entity: Entity; of: Place }) {
  const query = useEvents(entity, of);
  const items = query.data?.items;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={3} size="h5">
          Events
        </Title>
        <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
          Refresh
        </Button>
      </Group>
      {query.error && <ErrorAlert error={query.error} />}
      {query.isPending && <Loading label="Loading events" lines={2} />}
      {items?.length === 0 && <Text c="dimmed">No events. Kubernetes keeps them for an hour.</Text>}
      {items && items.length > 0 && (
        <ul className={styles.events}>
          {items.map((e, i) => (
            <li key={i}>
              <Group gap="xs">
                <Tag tone={e.type === "Warning" ? "warning" : "plain"}>{e.reason || e.type}</Tag>
                <Text component="span" size="xs" c="dimmed">
                  {e.last && <Time at={e.last} />}
                  {e.count > 1 && ` · ${e.count} times`}
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
        <NativeSelect label="Container" size="xs" data={pod.containers} value={container} onChange={(e) => setContainer(e.currentTarget.value)} />
        <Checkbox label="Before the last restart" size="xs" checked={previous} onChange={(e) => setPrevious(e.currentTarget.checked)} pb={6} />
        <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
          Refresh
        </Button>
      </Group>
      {query.error && <ErrorAlert error={query.error} />}
      {query.isPending && <Loading label="Loading log" lines={6} />}
      {query.data !== undefined && !query.error && (
        <pre className={styles.log} tabIndex={0} role="region" aria-label={`Log of container ${container}`}>
          {query.data || "The log is empty."}
        </pre>
      )}
      <Text size="xs" c="dimmed">
        The last 200 lines.
      </Text>
    </Stack>
  );
}
