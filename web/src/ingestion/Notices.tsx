import { Code, List, Stack, Text } from "@mantine/core";
import type { IngestionHealth } from "../api/types";
import { inWords } from "../api/unserved";
import { countOf } from "./target";
import { ExplainLink } from "./RuleFindings";
import { shortSource } from "./labels";
import { Notice } from "../components/Notice";

// Notices shows likely mistakes that are not errors: sources without selected definitions, unreadable files, definitions
// that are not served, and missing owners and systems. Only users with the permission to read ingestion see them.
export function Notices({ health }: { health: IngestionHealth }) {
  const sources = health.sources ?? [];
  const unselected = sources.filter((s) => s.definitions?.message);
  const broken = sources.filter((s) => s.problems?.length);
  const missing = health.missing ?? [];
  const unserved = health.unserved ?? [];
  const more = (health.unservedCount ?? 0) - unserved.length;
  return (
    <Stack gap="sm">
      {unselected.map((s) => (
        <Notice key={s.name} tone="warning" title={`${shortSource(s.name)}: no definitions selected`}>
          <Text size="sm">{s.definitions?.message}</Text>
          <Code block>{s.definitions?.hint}</Code>
        </Notice>
      ))}
      {broken.map((s) => (
        <Notice key={s.name} tone="warning" title={`${shortSource(s.name)}: ${countOf(s.problemCount ?? 0, "read errors")}`}>
          <List size="sm">
            {s.problems?.map((p, i) => (
              <List.Item key={i}>
                <Code>{[p.file ?? p.object, p.line].filter(Boolean).join(":")}</Code> {p.message}
              </List.Item>
            ))}
          </List>
        </Notice>
      ))}
      {unserved.length > 0 && (
        <Notice tone="warning" title="Definitions not served by their cluster">
          <Text size="sm">Forms for them are locked in that cluster until the condition is True.</Text>
          <List size="sm">
            {unserved.map((u) => (
              <List.Item key={[u.cluster, u.definition, u.condition].join("/")} style={{ overflowWrap: "anywhere" }}>
                {u.cluster}: <ExplainLink name={u.definition}>{u.definition}</ExplainLink>: {inWords(u)}
              </List.Item>
            ))}
            {more > 0 && <List.Item>{`and ${more} more`}</List.Item>}
          </List>
        </Notice>
      )}
      {missing.length > 0 && (
        <Notice tone="warning" title="Owners or systems missing from the catalog">
          <List size="sm">
            {missing.map((m) => (
              <List.Item key={m.relation + m.ref}>
                <Code>{m.ref}</Code>, referenced by {m.entities === 1 ? "1 entity" : `${m.entities} entities`}, such as <Code>{m.example}</Code>
              </List.Item>
            ))}
          </List>
        </Notice>
      )}
    </Stack>
  );
}
