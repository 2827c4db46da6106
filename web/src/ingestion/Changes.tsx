import { useState } from "react";
import { Button, Group, List, Stack, Text, Title } from "@mantine/core";
import type { Run } from "../api/types";
import { parseRef } from "../api/entity";
import { RefLink } from "../components/RefLink";
import { ErrorAlert, Loading } from "../components/State";
import { useRun } from "./queries";
import { ExplainLink } from "./RuleFindings";
import styles from "./Timeline.module.css";
import { lookup } from "../components/lookup";

type Kind = keyof NonNullable<Run["changes"]>;

const titles: [Kind, string][] = [
  ["failed", "Failed"],
  ["added", "Added"],
  ["updated", "Updated"],
  ["removed", "Removed"],
  ["refused", "Skipped: owned by another provider"],
];

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
    return <Loading label="Loading changes" lines={2} />;
  }
  const { changes } = data;
  if (!changes) {
    return (
      <Text size="sm" c="dimmed">
        The changed entities were not recorded.
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
        <Title order={4} size="sm">
          {title} <Text span size="sm" c="dimmed" fw={400}>{all}</Text>
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
          Show all {refs.length}
        </Button>
      )}
      {(whole || refs.length === shown.length) && all > refs.length && (
        <Text size="sm" c="dimmed">
          {all - refs.length} more were not recorded.
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
        {lookup(kinds, ref.kind.toLowerCase()) ?? ref.kind}
      </Text>{" "}
      {kind === "removed" ? name : <RefLink to={at} />}
    </>
  );
}

const kinds: Record<string, string> = { api: "API", template: "Template", resource: "Resource", component: "Component", system: "System" };
