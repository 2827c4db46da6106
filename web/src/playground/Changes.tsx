import { Group, Stack, Text, Title } from "@mantine/core";
import { ChangeList } from "../components/ChangeList";
import type { Position } from "../components/FindingList";
import { Incomplete } from "../components/Incomplete";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag, type Tone } from "../components/Tag";
import { texts } from "../text";
import { concernsResources, useComparison, type Compared, type Comparison } from "./comparison";
import { Findings } from "./Findings";
import { LiveCheck } from "./LiveCheck";
import styles from "./Playground.module.css";

const words = texts.playground.changes;

// Changes shows how the definitions of a text differ from the ingested ones, and what that does to live resources. If a
// comparison fails, the earlier one and the check of the resources stay.
export function Changes({ text, onGo }: { text: string; onGo: (at: Position) => void }) {
  const { empty, nothing, comparison, stale, error, retry } = useComparison(text);
  if (empty) {
    return <Nothing />;
  }
  return (
    <Stack gap="md">
      {nothing ? <Nothing /> : error ? <ErrorAlert title={words.failed} error={error} retry={retry} /> : !comparison && <Loading label={words.comparing} />}
      {comparison && (
        <div className={stale ? styles.stale : undefined}>
          <Definitions comparison={comparison} stale={stale} onGo={onGo} />
        </div>
      )}
      <LiveCheck text={text} offered={comparison?.definitions.some(concernsResources) ?? false} />
    </Stack>
  );
}

function Nothing() {
  return <Empty title={words.none}>{words.noneHint}</Empty>;
}

function Definitions({ comparison, stale, onGo }: { comparison: Comparison; stale: boolean; onGo: (at: Position) => void }) {
  const { definitions, findings, incomplete = [] } = comparison;
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {words.lead}
      </Text>
      {stale && <Text size="sm">{texts.playground.status.earlier}</Text>}
      {incomplete.length > 0 && <Incomplete title={words.incomplete} lines={incomplete} />}
      {findings.length > 0 && (
        <Stack gap={4} component="section" aria-label={words.unreadable}>
          <Title order={2} size="h5">
            {words.unreadable}
          </Title>
          <Findings findings={findings} passed={[]} onGo={onGo} />
        </Stack>
      )}
      {definitions.map((d, i) => (
        <Definition key={`${i} ${d.name}`} definition={d} onGo={onGo} />
      ))}
    </Stack>
  );
}

const tones: Record<Compared["status"], Tone> = { added: "success", removed: "error", renamed: "warning", changed: "plain", unchanged: "plain" };

function Definition({ definition: { name, was, status, changes }, onGo }: { definition: Compared; onGo: (at: Position) => void }) {
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <Group gap="xs">
        <Title order={2} size="h5" style={{ overflowWrap: "anywhere", minWidth: 0 }}>
          {name}
        </Title>
        <Tag tone={tones[status]}>{words.status[status]}</Tag>
      </Group>
      {status === "added" && <Text size="sm">{words.added}</Text>}
      {was && <Text size="sm">{words.was(was)}</Text>}
      {changes.length > 0 && <ChangeList changes={changes} onGo={onGo} />}
    </Stack>
  );
}
