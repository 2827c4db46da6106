import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { May } from "../app/may";
import { Denied } from "../parts/Denied";
import { Icon } from "../parts/Icon";
import { Empty } from "../parts/State";
import { Tag } from "../parts/Tag";
import { Time } from "../parts/Time";
import type { Source } from "./ask";
import { shortSource, stateWords, toneOf } from "./words";

type Props = { sources: Source[]; may: May; busy: (name: string) => boolean; onRun: (name: string) => void };

// Sources shows each source: how it fares, when it was last read, and what is known of it.
export function Sources({ sources, may, busy, onRun }: Props) {
  if (sources.length === 0) {
    return (
      <Empty title="Nothing is ingested">
        Name clusters, folders or repositories under composerIngestor or clusterIngestor in the configuration, and start the portal again.
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" p={0} m={0}>
      {sources.map((s) => (
        <Card key={s.name} component="li" withBorder data-testid={`source ${s.name}`} style={{ listStyle: "none" }}>
          <OneSource source={s} may={may} busy={busy(s.name)} onRun={() => onRun(s.name)} />
        </Card>
      ))}
    </SimpleGrid>
  );
}

function OneSource({ source, may, busy, onRun }: { source: Source; may: May; busy: boolean; onRun: () => void }) {
  const stale = Object.entries(source.stale ?? {}).sort(([a], [b]) => a.localeCompare(b));
  const objects = countByWord(source.objects ?? {});
  return (
    <Stack gap={6} h="100%">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={3} size="h5" style={{ overflowWrap: "anywhere" }} title={source.name}>
          {shortSource(source.name)}
        </Title>
        <Tag tone={toneOf(source.state)}>{stateWords[source.state]}</Tag>
      </Group>
      <Text size="sm" c="dimmed">
        {source.cluster ? "Cluster" : "Files"} · {source.name.split("/")[0]}
      </Text>
      <Text size="sm">
        Last read: <Time at={source.lastSuccess} />
        {source.lastAttempt && source.lastAttempt !== source.lastSuccess && (
          <>
            , last tried: <Time at={source.lastAttempt} />
          </>
        )}
      </Text>
      {objects.length > 0 && <Text size="sm">{objects.map(([word, n]) => `${word}: ${n}`).join(" · ")}</Text>}
      {stale.length > 0 && (
        <Stack gap={2}>
          <Text size="sm" component="div">
            <Tag tone="doubt">stale</Tag> {[...new Set(stale.map(([list]) => wordOf(list)))].join(", ")} since <Time at={stale.map(([, since]) => since).sort()[0]} />
          </Text>
          <details>
            <Text component="summary" size="sm">
              {stale.length === 1 ? "Which list" : `Which ${stale.length} lists`}
            </Text>
            {stale.map(([list, since]) => (
              <Text key={list} size="xs" style={{ overflowWrap: "anywhere" }}>
                {list}, <Time at={since} />
              </Text>
            ))}
          </details>
        </Stack>
      )}
      {source.lastError && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: "anywhere" }}>
          {source.lastError}
        </Text>
      )}
      {source.hint && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {source.hint.charAt(0).toUpperCase() + source.hint.slice(1)}.
        </Text>
      )}
      <Group mt="auto" pt={4}>
        <Denied may={may}>
          <Button size="compact-sm" variant="default" leftSection={<Icon name="refresh" size={14} />} disabled={!may.allowed} loading={busy} onClick={onRun} aria-label={`Run ${source.name} now`}>
            Run now
          </Button>
        </Denied>
      </Group>
    </Stack>
  );
}

// wordOf is what a list is of; the rest of its name says which one.
function wordOf(list: string): string {
  return list.split(" ")[0] ?? list;
}

// countByWord adds up what is known by what it is.
export function countByWord(objects: Record<string, number>): [string, number][] {
  const out = new Map<string, number>();
  for (const [list, n] of Object.entries(objects)) {
    out.set(wordOf(list), (out.get(wordOf(list)) ?? 0) + n);
  }
  return [...out].sort(([a], [b]) => a.localeCompare(b));
}
