import { List, Stack, Text, Title } from "@mantine/core";
import type { Access } from "../app/permission";
import type { IngestionHealth } from "../api/types";
import { texts } from "../text";
import { ExplainLink } from "./ExplainLink";
import { FirstSource } from "./FirstSource";
import { HealthSummary } from "./HealthSummary";
import { Notices } from "./Notices";
import { Targets } from "./Targets";
import type { Target } from "./target";

const words = texts.ingestion.status;

type Props = {
  health: IngestionHealth;
  targets: Target[];
  canRead: Access;
  canRun: Access;
  busy: (target: Target) => boolean;
  onRun: (target: Target) => void;
};

// Status shows the health of ingestion, what is probably a mistake, and each cluster, folder and repository.
export function Status({ health, targets, canRead, canRun, busy, onRun }: Props) {
  const failed = Object.entries(health.failures ?? {});
  const detailed = health.sources !== undefined;
  const title = targets.every((p) => p.cluster) ? words.clusters : words.sources;
  if (targets.length === 0) {
    return <FirstSource operator={detailed} />;
  }
  return (
    <Stack gap="lg">
      <HealthSummary targets={targets} failing={failed.length} entities={health.entitiesGenerated} />
      <Notices health={health} />
      <Stack gap="xs" component="section" aria-label={title}>
        <Title order={2} size="h4">
          {title}
        </Title>
        {detailed ? <Targets targets={targets} access={canRun} busy={busy} onRun={onRun} /> : <Targets targets={targets} />}
        {!detailed && (
          <Text size="sm" c="dimmed">
            {words.limited(canRead.reason ?? "")}
          </Text>
        )}
      </Stack>
      {failed.length > 0 && (
        <Stack gap="xs" component="section" aria-label={words.failures}>
          <Title order={2} size="h4">
            {words.failures}
          </Title>
          <Text size="sm">{words.failuresHint}</Text>
          <List size="sm">
            {failed.map(([name, why]) => (
              <List.Item key={name} style={{ overflowWrap: "anywhere" }}>
                {name.startsWith("workload:") ? name.slice("workload:".length) : <ExplainLink name={name}>{name}</ExplainLink>}: {why}
              </List.Item>
            ))}
          </List>
        </Stack>
      )}
    </Stack>
  );
}
