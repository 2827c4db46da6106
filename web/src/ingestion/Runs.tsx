import { Button, Group, SegmentedControl, Select, Stack, Text, Title } from "@mantine/core";
import type { Run } from "../api/types";
import { Empty } from "../components/State";
import { texts } from "../text";
import { useAddress } from "./address";
import { keyOf } from "./plot";
import { RunDetails } from "./RunDetails";
import { RunTable } from "./RunTable";
import { Timeline } from "./Timeline";
import { changedBy, newest, shortSource } from "./labels";

const words = texts.ingestion.runs;

// watched is the filter value for runs triggered by watch events, which have no source.
const watched = "watch";

// Runs shows the latest runs as a chart or a table, and one run in detail.
export function Runs({ runs }: { runs: Run[] }) {
  const [params, set] = useAddress();
  const sources = [...new Set(runs.map((r) => r.source ?? watched))].sort();
  const source = params.get("source");
  const shown = runs.filter((r) => source === null || (r.source ?? watched) === source);
  const asTable = params.get("runs") === "table";
  const asked = shown.find((r) => keyOf(r) === params.get("run"));
  const chosen = asked ?? newest(shown);
  const since = chosen ? shown.indexOf(chosen) : 0;

  return (
    <Stack gap="md" component="section" aria-label={words.title}>
      <Group justify="flex-end" gap="xs" wrap="nowrap">
        <Select
          size="xs"
          flex="1 1 auto"
          maw={{ base: "100%", sm: 220 }}
          aria-label={words.source}
          placeholder={words.allSources}
          clearable
          data={sources.map((s) => ({ value: s, label: s === watched ? words.watchEvents : shortSource(s) }))}
          value={source}
          onChange={(value) => set({ source: value ?? undefined, run: undefined })}
        />
        <SegmentedControl
          size="xs"
          aria-label={words.view}
          data={[
            { value: "plot", label: words.chart },
            { value: "table", label: words.table },
          ]}
          value={asTable ? "table" : "plot"}
          onChange={(value) => set({ runs: value === "table" ? "table" : undefined })}
        />
      </Group>
      {shown.length === 0 ? (
        <Empty title={words.none}>{words.noneHint}</Empty>
      ) : asTable ? (
        <RunTable runs={shown.slice(0, 100)} chosen={chosen} onSelect={(run) => set({ run: keyOf(run) })} />
      ) : (
        <Timeline runs={shown} selected={chosen} onSelect={(run) => set({ run: keyOf(run) })} />
      )}
      {chosen && (
        <Stack gap="xs">
          <Group gap="xs">
            <Title order={2} size="h4">
              {asked ? words.changesOf : words.latest}
            </Title>
            {!asked && since > 0 && chosen && changedBy(chosen) > 0 && (
              <Text size="sm" c="dimmed">
                {words.since(since)}
              </Text>
            )}
            {asked && (
              <Button size="compact-xs" variant="default" onClick={() => set({ run: undefined })}>
                {words.showLatest}
              </Button>
            )}
          </Group>
          <RunDetails run={chosen} />
        </Stack>
      )}
    </Stack>
  );
}
