import { useState } from "react";
import { Button, Group, List, Stack, Text, Title } from "@mantine/core";
import type { Run } from "../api/types";
import { parseRef } from "../api/entity";
import { RefLink } from "../components/RefLink";
import { ErrorAlert, Loading } from "../components/State";
import { useRun } from "./queries";
import { texts } from "../text";
import { ExplainLink } from "./ExplainLink";
import styles from "./Timeline.module.css";
import { lookup } from "../components/lookup";

type Kind = keyof NonNullable<Run["changes"]>;

const words = texts.ingestion.runs;
const titles = Object.entries(words.changed) as [Kind, string][];

// Changes lists the entities that a run changed.
export function Changes({ run }: { run: Run }) {
  const wanted = titles.some(([kind]) => run[kind] > 0);
  const { data, error, refetch } = useRun(wanted ? run.id : undefined);
  if (!wanted) {
    return null;
  }
  if (error) {
    return <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  if (!data) {
    return <Loading label={words.loadingChanges} lines={2} />;
  }
  const { changes } = data;
  if (!changes) {
    return (
      <Text size="sm" c="dimmed">
        {words.notRecorded}
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      {titles
        .filter(([kind]) => changes[kind].length > 0)
        .map(([kind, title]) => (
          <Changed key={`${run.id} ${kind}`} kind={kind} title={title} refs={changes[kind]} all={run[kind]} />
        ))}
    </Stack>
  );
}

// few is the number of entities shown at first.
const few = 9;

function Changed({ kind, title, refs, all }: { kind: Kind; title: string; refs: string[]; all: number }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? refs : refs.slice(0, few);
  return (
    <section aria-label={title}>
      <Group gap={6} mb={4}>
        <svg width={12} height={12} aria-hidden>
          <rect width={12} height={12} rx={2} className={styles[kind]} />
        </svg>
        <Title order={3} size="h5">
          {title}{" "}
          <Text span size="sm" c="dimmed" fw={400}>
            {all}
          </Text>
        </Title>
      </Group>
      <List size="sm" listStyleType="none" className={styles.changes}>
        {shown.map((ref) => (
          <List.Item key={ref}>
            <ChangedEntity kind={kind} at={ref} />
          </List.Item>
        ))}
      </List>
      {refs.length > shown.length && (
        <Button size="compact-xs" variant="default" mt={4} onClick={() => setWhole(true)}>
          {words.showAll(refs.length)}
        </Button>
      )}
      {(whole || refs.length === shown.length) && all > refs.length && (
        <Text size="sm" c="dimmed">
          {words.moreNotRecorded(all - refs.length)}
        </Text>
      )}
    </section>
  );
}

function ChangedEntity({ kind, at }: { kind: Kind; at: string }) {
  if (kind === "failed") {
    return at.startsWith("workload:") ? <>{at.slice("workload:".length)}</> : <ExplainLink name={at}>{at}</ExplainLink>;
  }
  const ref = parseRef(at);
  const name = ref.namespace === "default" ? ref.name : `${ref.namespace}/${ref.name}`;
  return (
    <>
      <Text span size="xs" c="dimmed">
        {lookup(texts.ingestion.kinds, ref.kind.toLowerCase()) ?? ref.kind}
      </Text>{" "}
      {kind === "removed" ? name : <RefLink to={at} />}
    </>
  );
}
