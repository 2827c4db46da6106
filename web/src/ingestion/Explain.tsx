import type { ReactNode } from "react";
import { Drawer, List, Stack, Table, Text, Title } from "@mantine/core";
import type { Explanation } from "../api/types";
import { RefLink } from "../parts/Ref";
import { Failed, Loading } from "../parts/State";
import { Tag, type Tone } from "../parts/Tag";
import { Time } from "../parts/Time";
import { useExplanation } from "./ask";

export const tones: Record<Explanation["findings"][number]["severity"], Tone> = { error: "bad", warning: "doubt", info: "plain" };

// Explain says of a definition where it is from, who takes it, and what is made of it.
export function Explain({ definition, onClose }: { definition: string; onClose: () => void }) {
  const { data, error, refetch } = useExplanation(definition);
  return (
    <Drawer opened={definition !== ""} onClose={onClose} position="right" size="lg" title={definition} closeButtonProps={{ "aria-label": "Close" }}>
      {error ? <Failed error={error} retry={() => void refetch()} /> : data ? <Explained explanation={data} /> : <Loading label="Looking it up" />}
    </Drawer>
  );
}

function Explained({ explanation: x }: { explanation: Explanation }) {
  return (
    <Stack gap="md">
      <Text>
        {x.takenBy ? `${x.takenBy} makes its entities.` : "Nobody makes entities of it."}
        {x.leftBy && x.leftBy.length > 0 && ` ${x.leftBy.join(", ")} would, if the other did not.`} {x.compositions} Compositions, {x.composites} composites and claims.
      </Text>
      {x.failure && <Failed error={new Error(x.failure)} title="Nothing can be made of it" />}
      {x.stale && (
        <Text size="sm">
          <Tag tone="doubt">stale</Tag> {x.stale} since <Time at={x.staleSince} />
        </Text>
      )}
      <Section title="Found in">
        <List size="sm">
          {x.copies.map((c) => (
            <List.Item key={c.source}>
              {c.source}
              {c.refused ? `: left, because ${c.refused}` : ""}
            </List.Item>
          ))}
        </List>
      </Section>
      {x.findings.length > 0 && (
        <Section title="Findings">
          <Stack gap="xs">
            {x.findings.map((f, i) => (
              <div key={i}>
                <Text size="sm" component="div">
                  <Tag tone={tones[f.severity]}>{f.severity}</Tag> {f.rule}: {f.message}
                </Text>
                {f.hint && (
                  <Text size="sm" c="dimmed">
                    {f.hint}
                  </Text>
                )}
                {f.path && (
                  <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
                    {f.path}
                  </Text>
                )}
              </div>
            ))}
          </Stack>
        </Section>
      )}
      <Section title="Entities">
        <List size="sm">
          {x.entities.map((ref) => (
            <List.Item key={ref}>
              <RefLink to={ref}>{ref}</RefLink>
            </List.Item>
          ))}
          {(x.withheld ?? []).map((ref) => (
            <List.Item key={ref}>{ref}: the catalog would refuse it</List.Item>
          ))}
        </List>
      </Section>
      <Section title="Where values come from">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Value</Table.Th>
              <Table.Th>Is</Table.Th>
              <Table.Th>From</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {x.values.map((v) => (
              <Table.Tr key={v.field}>
                <Table.Td>{v.field}</Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{v.value}</Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  {v.from}
                  {v.key ? ` ${v.key}` : ""}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Section>
    </Stack>
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
