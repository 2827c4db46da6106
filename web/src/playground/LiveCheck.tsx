import { useState } from "react";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { parseRef } from "../api/entity";
import { DataTable, type Column } from "../components/DataTable";
import { Incomplete } from "../components/Incomplete";
import { RefLink } from "../components/RefLink";
import { ResourceName } from "../components/ResourceName";
import { ErrorAlert } from "../components/State";
import { texts } from "../text";
import { useCheck, type Comparison, type Effect, type Impact } from "./comparison";
import styles from "./Playground.module.css";

const words = texts.playground.changes;

// LiveCheck validates the live resources against a text on demand, and shows which would be affected. It is offered if the
// changes can affect any.
export function LiveCheck({ text, offered }: { text: string; offered: boolean }) {
  const { check, running, stale, start, cancel } = useCheck(text);
  if (!offered && !check) {
    return null;
  }
  return (
    <Stack gap="sm" component="section" aria-label={words.result}>
      {offered && (
        <Stack gap={4}>
          <Group gap="sm">
            <Button size="xs" variant="default" onClick={running ? cancel : start}>
              {running ? words.cancel : words.check}
            </Button>
            <Text size="sm" role="status">
              {running && words.checked(check?.checked ?? 0)}
            </Text>
          </Group>
          <Text size="xs" c="dimmed">
            {words.checkHint}
          </Text>
        </Stack>
      )}
      {check?.error !== undefined && !stale && <ErrorAlert title={words.checkFailed} error={check.error} retry={start} />}
      {check?.result && (
        <div className={stale ? styles.stale : undefined}>
          <Stack gap="sm">
            {stale && <Text size="sm">{words.stale}</Text>}
            <Result result={check.result} />
          </Stack>
        </div>
      )}
    </Stack>
  );
}

function Result({ result: { impact, incomplete = [] } }: { result: Comparison }) {
  if (!impact) {
    return null;
  }
  const { affected, checked, clusters } = impact;
  return (
    <>
      {incomplete.length > 0 && <Incomplete title={words.unread} lines={incomplete} />}
      <Text size="sm" fw={600} role="status">
        {affected === 0 ? words.unaffected(checked, clusters) : words.affected(affected, checked, clusters)}
      </Text>
      {impact.definitions.map((d) => (
        <Affected key={d.name} definition={d} named={impact.definitions.length > 1} />
      ))}
    </>
  );
}

function Affected({ definition: { name, checked, invalid, effects }, named }: { definition: Impact["definitions"][number]; named: boolean }) {
  return (
    <>
      {named && effects.length > 0 && (
        <Title order={3} size="h6">
          {name}
        </Title>
      )}
      {effects.map((effect, i) => (
        <EffectView key={i} effect={effect} checked={checked} />
      ))}
      {invalid > 0 && (
        <Text size="sm" c="dimmed">
          {words.invalid(name, invalid)}
        </Text>
      )}
    </>
  );
}

type Resource = Effect["resources"][number];

const columns: Column<Resource>[] = [
  {
    title: words.resource,
    cell: (r) => <ResourceName resource={r} />,
    priority: "key",
  },
  { title: words.cluster, cell: (r) => r.cluster },
  { title: words.owner, cell: (r) => r.owner && <RefLink to={r.owner} kind="group" namespace={parseRef(r.entity).namespace} /> },
];

// EffectView is a sentence about an effect, with the resources when it is opened.
function EffectView({ effect: { message, outcome, count, clusters, resources }, checked }: { effect: Effect; checked: number }) {
  const [open, setOpen] = useState(false);
  const sentence = words.effect(message, count, checked, clusters.length, words.outcome[outcome]);
  const hidden = count - resources.length;
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <Text component="summary" size="sm" style={{ cursor: "pointer", overflowWrap: "anywhere" }}>
        {sentence}
      </Text>
      {open && (
        <Stack gap={4} mt="xs">
          {resources.length > 0 && <DataTable label={sentence} columns={columns} rows={resources} keyOf={(r, i) => `${i} ${r.name}`} />}
          {hidden > 0 && <Text size="sm">{texts.components.changes.hidden(hidden)}</Text>}
        </Stack>
      )}
    </details>
  );
}
