import type { ReactNode } from "react";
import { Drawer, Group, List, Stack, Text, Title } from "@mantine/core";
import type { Explanation } from "../api/types";
import { RefLink } from "../components/RefLink";
import { ErrorAlert, Loading } from "../components/State";
import { Tag, type Tone } from "../components/Tag";
import { Time } from "../components/Time";
import { texts } from "../text";
import { ingestorOf, namedSource } from "./definition";
import { useExplanation } from "./queries";
import styles from "./Explain.module.css";

const words = texts.ingestion.explain;

export const tones: Record<Explanation["findings"][number]["severity"], Tone> = { error: "error", warning: "warning", info: "plain" };

// Explain shows the sources of a definition, the ingestor that processes it and the generated entities. Drawer.Header is
// not used: it would be a second banner of the page.
export function Explain({ definition, onClose }: { definition: string; onClose: () => void }) {
  const { data, error, refetch } = useExplanation(definition);
  return (
    <Drawer.Root opened={definition !== ""} onClose={onClose} position="right" size="lg">
      <Drawer.Overlay />
      <Drawer.Content>
        <Group justify="space-between" wrap="nowrap" align="flex-start" className={styles.head}>
          <Drawer.Title className={styles.title}>{definition}</Drawer.Title>
          <Drawer.CloseButton aria-label={texts.ingestion.close} />
        </Group>
        <Drawer.Body>{error ? <ErrorAlert error={error} retry={() => void refetch()} /> : data ? <Explained explanation={data} /> : <Loading label={words.loading} />}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Explained({ explanation: x }: { explanation: Explanation }) {
  return (
    <Stack gap="lg">
      <Text size="sm">
        {x.takenBy ? words.takenBy(ingestorOf(x.takenBy)) : words.notTaken} {x.leftBy && x.leftBy.length > 0 && `${words.leftBy(x.leftBy.map(ingestorOf).join(words.and))} `}
        {words.counts(x.compositions, x.composites)}
      </Text>
      {x.failure && <ErrorAlert error={new Error(x.failure)} title={words.failure} />}
      {x.stale && (
        <Text size="sm" component="div">
          <Tag tone="warning">{words.stale}</Tag> {words.staleSince(x.stale)} <Time at={x.staleSince} />
        </Text>
      )}
      <Section title={words.sources}>
        <List size="sm">
          {x.copies.map((c) => (
            <List.Item key={c.source} style={{ overflowWrap: "anywhere" }}>
              {namedSource(c.source)}
              {c.refused && (
                <Text size="xs" c="dimmed">
                  {words.skipped(c.refused)}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      </Section>
      {x.findings.length > 0 && (
        <Section title={words.findings}>
          <Stack gap="xs">
            {x.findings.map((f, i) => (
              <FindingText key={i} finding={f} />
            ))}
          </Stack>
        </Section>
      )}
      <Section title={words.entities}>
        {x.entities.length + (x.withheld?.length ?? 0) === 0 && (
          <Text size="sm" c="dimmed">
            {words.noEntities}
          </Text>
        )}
        <List size="sm" spacing="xs" listStyleType="none">
          {x.entities.map((ref) => (
            <List.Item key={ref}>
              <RefLink to={ref} icon />
            </List.Item>
          ))}
          {(x.withheld ?? []).map((ref) => (
            <List.Item key={ref} style={{ overflowWrap: "anywhere" }}>
              {words.withheld(ref)}
            </List.Item>
          ))}
        </List>
      </Section>
      {x.values.length > 0 && (
        <Section title={words.values}>
          <dl className={styles.values}>
            {x.values.map((v) => (
              <div key={v.field}>
                <dt>{v.field}</dt>
                <dd>
                  {v.value}
                  <Text size="xs" c="dimmed">
                    {[v.from, v.key].filter(Boolean).join(" ")}
                  </Text>
                </dd>
              </div>
            ))}
          </dl>
        </Section>
      )}
    </Stack>
  );
}

function FindingText({ finding: f }: { finding: Explanation["findings"][number] }) {
  return (
    <div className={styles.finding}>
      <Group gap="xs">
        <Tag tone={tones[f.severity]}>{texts.ingestion.findings.severity[f.severity]}</Tag>
        <Text size="xs" ff="monospace" component="span">
          {f.rule}
        </Text>
      </Group>
      <Text size="sm">{f.message}</Text>
      {f.hint && (
        <Text size="sm" c="dimmed">
          {f.hint}
        </Text>
      )}
      {f.path && (
        <Text size="xs" c="dimmed" ff="monospace">
          {f.path}
        </Text>
      )}
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={4} component="section" aria-label={title}>
      <Title order={3} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
