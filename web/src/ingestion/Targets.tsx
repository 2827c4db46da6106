import { type ReactNode, useState } from "react";
import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { Access } from "../app/permission";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon } from "../components/Icon";
import { Empty, ErrorAlert } from "../components/State";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { type Source, useConfirm } from "./queries";
import { joinNames, type Target } from "./target";
import styles from "./Targets.module.css";
import { sentence, stateLabels, toneOf } from "./labels";
import { Notice } from "../components/Notice";

type Props = {
  targets: Target[];
  // access and onRun enable the actions; without them the targets are read-only.
  access?: Access;
  busy?: (target: Target) => boolean;
  onRun?: (target: Target) => void;
};

// Targets shows each cluster, folder and repository with its state, last sync and object counts.
export function Targets({ targets, access, busy, onRun }: Props) {
  if (targets.length === 0) {
    return (
      <Empty title="No sources configured">
        {access ? "Add clusters, folders or repositories under composerIngestor or clusterIngestor in the configuration, then restart the portal." : "Ask your administrator to add clusters, folders or repositories."}
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: targets.length > 2 ? 3 : 2 }} component="ul" p={0} m={0}>
      {targets.map((p) => (
        <Card key={`${p.cluster} ${p.name}`} component="li" withBorder aria-label={p.name} className={`${styles.target} ${styles[p.tone] ?? ""}`} style={{ listStyle: "none" }}>
          <TargetCard target={p} access={access}>
            {access && onRun && (
              <PermissionTooltip access={access}>
                <Button
                  size="compact-sm"
                  variant="default"
                  leftSection={<Icon name="refresh" size={14} />}
                  disabled={!access.allowed}
                  loading={busy?.(p) ?? false}
                  onClick={() => onRun(p)}
                  aria-label={`Run ${p.name} now`}
                >
                  Run now
                </Button>
              </PermissionTooltip>
            )}
          </TargetCard>
        </Card>
      ))}
    </SimpleGrid>
  );
}

function TargetCard({ target, access, children }: { target: Target; access?: Access; children?: ReactNode }) {
  const detailed = target.sources.some((s) => s.lastAttempt !== undefined);
  const errors = target.sources.filter((s) => s.lastError && !s.pendingRemoval);
  return (
    <Stack gap={8}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          <Title order={3} size="h4" style={{ overflowWrap: "anywhere" }}>
            {target.name}
          </Title>
          <Tag tone={target.tone}>{stateLabels[target.state]}</Tag>
        </Group>
        {children}
      </Group>
      {detailed && (
        <Text size="sm" c="dimmed">
          {target.cluster ? "Cluster" : "Files"}, last synced <Time at={target.lastSuccess} />
          {target.tone !== "success" && target.lastAttempt && (
            <>
              , last attempt <Time at={target.lastAttempt} />
            </>
          )}
        </Text>
      )}
      {target.counts.length > 0 && (
        <Group className={styles.counts}>
          {target.counts.map(([word, n]) => (
            <Text key={word} size="sm" className={styles.number}>
              <Text span fw={600} size="lg">
                {n}
              </Text>{" "}
              {n === 1 ? word.replace(/s$/, "") : word}
            </Text>
          ))}
        </Group>
      )}
      {target.stale.length > 0 && (
        <Text size="sm" className={styles.stale}>
          <strong>Stale:</strong> {joinNames(target.stale)} last synced <Time at={target.staleSince} />.
        </Text>
      )}
      {target.sources.map((s) => s.pendingRemoval && <Removal key={`removal ${s.name}`} source={s} access={access} />)}
      {errors.map((s) => (
        <SourceError key={s.name} source={s} alone={target.sources.length === 1 || sameError(errors)} first={s === errors[0]} />
      ))}
      {target.sources.length > 1 && (
        <details>
          <Text component="summary" size="sm">
            {target.sources.length} sources
          </Text>
          <Stack gap={4} mt={4}>
            {target.sources.map((s) => (
              <Group key={s.name} gap="xs" justify="space-between">
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {s.name}
                </Text>
                <Group gap="xs">
                  <Text size="sm" c="dimmed">
                    <Time at={s.lastSuccess} />
                  </Text>
                  <Tag tone={toneOf(s.state)}>{stateLabels[s.state]}</Tag>
                </Group>
              </Group>
            ))}
          </Stack>
        </details>
      )}
    </Stack>
  );
}

// Removal shows a pending mass removal and lets the user confirm it. It takes two clicks, because it removes entities.
function Removal({ source, access }: { source: Source; access?: Access }) {
  const confirm = useConfirm();
  const [sure, setSure] = useState(false);
  const pending = source.pendingRemoval;
  if (!pending) {
    return null;
  }
  return (
    <Notice tone="warning" title={`${pending.objects} of ${pending.of} objects are missing`}>
      <Stack gap="xs">
        <Text size="sm">
          Missing since <Time at={pending.since} />. Because so many objects are missing, their entities are kept and removed only if the objects are still missing{" "}
          <Time at={pending.until} />. Check that the source is complete.
        </Text>
        {access && (
          <PermissionTooltip access={access}>
            <Group gap="xs">
              {sure && (
                <Button size="compact-sm" variant="default" onClick={() => setSure(false)}>
                  Cancel
                </Button>
              )}
              <Button
                size="compact-sm"
                color="danger"
                variant={sure ? "filled" : "outline"}
                disabled={!access.allowed}
                loading={confirm.isPending}
                onClick={() => (sure ? confirm.mutate(source) : setSure(true))}
              >
                {sure ? `Remove the entities of ${pending.objects} objects` : "Confirm removal"}
              </Button>
            </Group>
          </PermissionTooltip>
        )}
        <div role="status">{confirm.isSuccess && <Text size="sm">Confirmed. The scan that starts now removes the entities.</Text>}</div>
        {confirm.isError && <ErrorAlert error={confirm.error} title="Cannot confirm the removal" />}
      </Stack>
    </Notice>
  );
}

function sameError(errors: Source[]): boolean {
  return new Set(errors.map((s) => s.lastError)).size === 1;
}

// SourceError shows the error and hint of a source. An error that all sources share is shown once.
function SourceError({ source, alone, first }: { source: Source; alone: boolean; first: boolean }) {
  if (alone && !first) {
    return null;
  }
  return (
    <div>
      {!alone && (
        <Text size="sm" fw={600}>
          {source.name}
        </Text>
      )}
      <Text size="sm" c="var(--mantine-color-error)" lineClamp={4} title={source.lastError} style={{ overflowWrap: "anywhere" }}>
        {source.lastError}
      </Text>
      {source.hint && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {sentence(source.hint)}.
        </Text>
      )}
    </div>
  );
}
