import { Alert, Code, List, Stack, Text } from "@mantine/core";
import type { IngestionHealth } from "../api/types";
import { Icon } from "../parts/Icon";
import { shortSource } from "./words";

// Notices shows what is not an error, and hardly meant: sources of which no definition is selected, files that cannot be
// read, and owners and systems that nobody defines. Only those who may read about ingestion are told.
export function Notices({ health }: { health: IngestionHealth }) {
  const sources = health.sources ?? [];
  const unselected = sources.filter((s) => s.definitions?.message);
  const broken = sources.filter((s) => s.problems?.length);
  const missing = health.missing ?? [];
  return (
    <Stack gap="sm">
      {unselected.map((s) => (
        <Alert key={s.name} color="yellow" variant="outline" icon={<Icon name="warning" />} title={`${shortSource(s.name)}: no definition is selected`}>
          <Text size="sm">{s.definitions?.message}</Text>
          <Code block>{s.definitions?.hint}</Code>
        </Alert>
      ))}
      {broken.map((s) => (
        <Alert key={s.name} color="yellow" variant="outline" icon={<Icon name="warning" />} title={`${shortSource(s.name)}: ${s.problemCount} cannot be read`}>
          <List size="sm">
            {s.problems?.map((p, i) => (
              <List.Item key={i}>
                <Code>{[p.file ?? p.object, p.line].filter(Boolean).join(":")}</Code> {p.message}
              </List.Item>
            ))}
          </List>
        </Alert>
      ))}
      {missing.length > 0 && (
        <Alert color="yellow" variant="outline" icon={<Icon name="warning" />} title="Owners or systems are not in the catalog">
          <List size="sm">
            {missing.map((m) => (
              <List.Item key={m.relation + m.ref}>
                <Code>{m.ref}</Code>, which {m.entities === 1 ? "one entity names" : `${m.entities} entities name`}, such as <Code>{m.example}</Code>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
