import { Anchor, Code, List, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import type { IngestionHealth } from "../api/types";
import { inWords } from "../api/unserved";
import { RefLink } from "../components/RefLink";
import { Command } from "../components/Command";
import { texts } from "../text";
import { ExplainLink } from "./ExplainLink";
import { shortSource } from "./labels";
import { Notice } from "../components/Notice";
import styles from "./Notices.module.css";

const words = texts.ingestion.notices;

// Notices shows likely mistakes that are not errors: sources without selected definitions, unreadable files, definitions
// that are not served, and missing owners and systems. Only users with the permission to read ingestion see them.
export function Notices({ health }: { health: IngestionHealth }) {
  const sources = health.sources ?? [];
  const unselected = sources.filter((s) => s.definitions?.message);
  const broken = sources.filter((s) => s.problems?.length);
  const missing = health.missing ?? [];
  const unserved = health.unserved ?? [];
  const more = (health.unservedCount ?? 0) - unserved.length;
  if (unselected.length + broken.length + unserved.length + missing.length === 0) {
    return null;
  }
  return (
    <Stack gap="sm">
      {unselected.map((s) => (
        <Notice key={s.name} tone="warning" title={words.unselected(shortSource(s.name))}>
          <Text size="sm">{s.definitions?.message}</Text>
          {s.definitions?.hint && <Command text={s.definitions.hint} />}
          <Anchor component={Link} size="sm" to={{ search: "?tab=definitions&only=unselected" }}>
            {words.showDefinitions}
          </Anchor>
        </Notice>
      ))}
      {broken.map((s) => (
        <Notice key={s.name} tone="warning" title={words.readErrors(shortSource(s.name), s.problemCount ?? 0)}>
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
        <Notice tone="warning" title={words.unserved}>
          <Text size="sm">{words.unservedHint}</Text>
          <List size="sm">
            {unserved.map((u) => (
              <List.Item key={[u.cluster, u.definition, u.condition].join("/")} style={{ overflowWrap: "anywhere" }}>
                {u.cluster}: <ExplainLink name={u.definition}>{u.definition}</ExplainLink>: {inWords(u)}
              </List.Item>
            ))}
            {more > 0 && <List.Item>{words.more(more)}</List.Item>}
          </List>
        </Notice>
      )}
      {missing.length > 0 && (
        <Notice tone="warning" title={words.missing}>
          <List size="sm" className={styles.text}>
            {missing.map((m) => (
              <List.Item key={m.relation + m.ref}>
                <Code>{m.ref}</Code>
                {words.referenced(m.entities)}
                <RefLink to={m.example} />
              </List.Item>
            ))}
          </List>
        </Notice>
      )}
    </Stack>
  );
}
