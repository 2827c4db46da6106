import { type ReactNode, useState } from "react";
import { Alert, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { May } from "../app/may";
import { Denied } from "../parts/Denied";
import { Icon } from "../parts/Icon";
import { Empty, Failed } from "../parts/State";
import { Tag } from "../parts/Tag";
import { Time } from "../parts/Time";
import { type Source, useConfirm } from "./ask";
import { listed, type Place } from "./place";
import styles from "./Places.module.css";
import { sentence, stateWords, toneOf } from "./words";

type Props = {
  places: Place[];
  // may and onRun are what can be done; without them it is only looked at.
  may?: May;
  busy?: (place: Place) => boolean;
  onRun?: (place: Place) => void;
};

// Places shows each cluster, folder and repository: how it fares, when it was last read, and what is known of it.
export function Places({ places, may, busy, onRun }: Props) {
  if (places.length === 0) {
    return (
      <Empty title="Nothing is ingested">
        Name clusters, folders or repositories under composerIngestor or clusterIngestor in the configuration, and start the portal again.
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: places.length > 2 ? 3 : 2 }} component="ul" p={0} m={0}>
      {places.map((p) => (
        <Card key={`${p.cluster} ${p.name}`} component="li" withBorder aria-label={p.name} className={`${styles.place} ${styles[p.tone] ?? ""}`} style={{ listStyle: "none" }}>
          <OnePlace place={p} may={may}>
            {may && onRun && (
              <Denied may={may}>
                <Button
                  size="compact-sm"
                  variant="default"
                  leftSection={<Icon name="refresh" size={14} />}
                  disabled={!may.allowed}
                  loading={busy?.(p) ?? false}
                  onClick={() => onRun(p)}
                  aria-label={`Run ${p.name} now`}
                >
                  Run now
                </Button>
              </Denied>
            )}
          </OnePlace>
        </Card>
      ))}
    </SimpleGrid>
  );
}

function OnePlace({ place, may, children }: { place: Place; may?: May; children?: ReactNode }) {
  const detailed = place.sources.some((s) => s.lastAttempt !== undefined);
  const errors = place.sources.filter((s) => s.lastError && !s.pendingRemoval);
  return (
    <Stack gap={8}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          <Title order={3} size="h4" style={{ overflowWrap: "anywhere" }}>
            {place.name}
          </Title>
          <Tag tone={place.tone}>{stateWords[place.state]}</Tag>
        </Group>
        {children}
      </Group>
      {detailed && (
        <Text size="sm" c="dimmed">
          {place.cluster ? "Cluster" : "Files"}, last read <Time at={place.lastSuccess} />
          {place.tone !== "good" && place.lastAttempt && (
            <>
              , last tried <Time at={place.lastAttempt} />
            </>
          )}
        </Text>
      )}
      {place.counts.length > 0 && (
        <Group className={styles.counts}>
          {place.counts.map(([word, n]) => (
            <Text key={word} size="sm" className={styles.number}>
              <Text span fw={600} size="lg">
                {n}
              </Text>{" "}
              {n === 1 ? word.replace(/s$/, "") : word}
            </Text>
          ))}
        </Group>
      )}
      {place.stale.length > 0 && (
        <Text size="sm" className={styles.stale}>
          <strong>Stale:</strong> {listed(place.stale)} are as they were <Time at={place.staleSince} />.
        </Text>
      )}
      {place.sources.map((s) => s.pendingRemoval && <Removal key={`removal ${s.name}`} source={s} may={may} />)}
      {errors.map((s) => (
        <Trouble key={s.name} source={s} alone={place.sources.length === 1 || sameError(errors)} first={s === errors[0]} />
      ))}
      {place.sources.length > 1 && (
        <details>
          <Text component="summary" size="sm">
            {place.sources.length} sources
          </Text>
          <Stack gap={4} mt={4}>
            {place.sources.map((s) => (
              <Group key={s.name} gap="xs" justify="space-between">
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {s.name}
                </Text>
                <Group gap="xs">
                  <Text size="sm" c="dimmed">
                    <Time at={s.lastSuccess} />
                  </Text>
                  <Tag tone={toneOf(s.state)}>{stateWords[s.state]}</Tag>
                </Group>
              </Group>
            ))}
          </Stack>
        </details>
      )}
    </Stack>
  );
}

// Removal tells of objects that are not found any more, and has somebody confirm that they are gone. It takes two
// clicks: entities go by it.
function Removal({ source, may }: { source: Source; may?: May }) {
  const confirm = useConfirm();
  const [sure, setSure] = useState(false);
  const pending = source.pendingRemoval;
  if (!pending) {
    return null;
  }
  return (
    <Alert color="yellow" variant="outline" icon={<Icon name="warning" />} title={`${pending.objects} of ${pending.of} objects are missing`}>
      <Stack gap="xs">
        <Text size="sm">
          They have been missing since <Time at={pending.since} />. Because there are so many, their entities are kept, and removed only if they are still missing{" "}
          <Time at={pending.until} />. Check that the source is complete.
        </Text>
        {may && (
          <Denied may={may}>
            <Group gap="xs">
              {sure && (
                <Button size="compact-sm" variant="default" onClick={() => setSure(false)}>
                  Keep them
                </Button>
              )}
              <Button
                size="compact-sm"
                color="red"
                variant={sure ? "filled" : "outline"}
                disabled={!may.allowed}
                loading={confirm.isPending}
                onClick={() => (sure ? confirm.mutate(source) : setSure(true))}
              >
                {sure ? `Remove the entities of ${pending.objects} objects` : "Confirm removal"}
              </Button>
            </Group>
          </Denied>
        )}
        <div role="status">{confirm.isSuccess && <Text size="sm">Confirmed. The entities are removed by the scan that begins now.</Text>}</div>
        {confirm.isError && <Failed error={confirm.error} title="The removal was not confirmed" />}
      </Stack>
    </Alert>
  );
}

function sameError(errors: Source[]): boolean {
  return new Set(errors.map((s) => s.lastError)).size === 1;
}

// Trouble is what went wrong with a source, and the way out. What several have in common is said once.
function Trouble({ source, alone, first }: { source: Source; alone: boolean; first: boolean }) {
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
