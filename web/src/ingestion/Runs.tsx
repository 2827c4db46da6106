import { Button, Group, SegmentedControl, Select, Stack, Table, Text, Title, UnstyledButton } from "@mantine/core";
import { useSearchParams } from "react-router";
import type { Run } from "../api/types";
import { Empty } from "../components/State";
import { Tag } from "../components/Tag";
import { duration, Time } from "../components/Time";
import { keyOf } from "./plot";
import { RunDetails } from "./RunDetails";
import { Timeline } from "./Timeline";
import { changedBy, newest, shortSource, triggers } from "./labels";

// watched is the filter value for runs triggered by watch events, which have no source.
const watched = "watch";

// Runs shows the latest runs as a chart or a table, and one run in detail.
export function Runs({ runs }: { runs: Run[] }) {
  const [params, setParams] = useSearchParams();
  const set = (name: string, value: string | undefined) =>
    setParams(
      (now) => {
        if (value === undefined) {
          now.delete(name);
        } else {
          now.set(name, value);
        }
        return now;
      },
      { replace: true, preventScrollReset: true },
    );
  const sources = [...new Set(runs.map((r) => r.source ?? watched))].sort();
  const source = params.get("source");
  const shown = runs.filter((r) => source === null || (r.source ?? watched) === source);
  const asTable = params.get("runs") === "table";
  const asked = shown.find((r) => keyOf(r) === params.get("run"));
  const chosen = asked ?? newest(shown);
  const since = chosen ? shown.indexOf(chosen) : 0;

  return (
    <Stack gap="md" component="section" aria-label="Runs">
      <Group justify="space-between" align="flex-end">
        <Title order={2} size="h4">
          Runs
        </Title>
        <Group gap="sm" align="flex-end">
          <Select
            size="xs"
            aria-label="Source"
            placeholder="All sources"
            clearable
            data={sources.map((s) => ({ value: s, label: s === watched ? "watch events" : s }))}
            value={source}
            onChange={(value) => set("source", value ?? undefined)}
          />
          <SegmentedControl
            size="xs"
            aria-label="Runs view"
            data={[
              { value: "plot", label: "Chart" },
              { value: "table", label: "Table" },
            ]}
            value={asTable ? "table" : "plot"}
            onChange={(value) => set("runs", value === "table" ? "table" : undefined)}
          />
        </Group>
      </Group>
      {shown.length === 0 ? (
        <Empty title="No runs yet">Sources are scanned on a schedule. The first run appears here when it has finished.</Empty>
      ) : asTable ? (
        <RunTable runs={shown.slice(0, 100)} chosen={chosen} onSelect={(run) => set("run", keyOf(run))} />
      ) : (
        <Timeline runs={shown} selected={chosen} onSelect={(run) => set("run", keyOf(run))} />
      )}
      {chosen && (
        <Stack gap="xs">
          <Group gap="xs">
            <Title order={3} size="h5">
              {asked ? "Changes in this run" : "Latest changes"}
            </Title>
            {!asked && since > 0 && chosen && changedBy(chosen) > 0 && (
              <Text size="sm" c="dimmed">
                {since === 1 ? "1 run" : `${since} runs`} since then without changes.
              </Text>
            )}
            {asked && (
              <Button size="compact-xs" variant="default" onClick={() => set("run", undefined)}>
                Show latest changes
              </Button>
            )}
          </Group>
          <RunDetails run={chosen} />
        </Stack>
      )}
    </Stack>
  );
}

function RunTable({ runs, chosen, onSelect }: { runs: Run[]; chosen?: Run; onSelect: (run: Run) => void }) {
  return (
    <Table.ScrollContainer minWidth={760} mah={420} scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "region", "aria-label": "Runs" } }}>
      <Table stickyHeader verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            {["Started", "Source", "Trigger", "Duration", "Read", "Load", "Transform", "Write", "Added", "Updated", "Removed", "Result"].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={keyOf(run)} bg={run === chosen ? "var(--mantine-color-default-hover)" : undefined}>
              <Table.Td>
                <UnstyledButton onClick={() => onSelect(run)} aria-pressed={run === chosen} fz="sm" td="underline">
                  <Time at={run.started} />
                </UnstyledButton>
              </Table.Td>
              <Table.Td>{run.source ? shortSource(run.source) : "watch"}</Table.Td>
              <Table.Td>{triggers[run.trigger]}</Table.Td>
              <Table.Td>{duration(run.milliseconds)}</Table.Td>
              {(["read", "load", "transform", "write"] as const).map((phase) => (
                <Table.Td key={phase}>{run.phases?.[phase] === undefined ? "" : duration(run.phases[phase])}</Table.Td>
              ))}
              <Table.Td>{run.added}</Table.Td>
              <Table.Td>{run.updated}</Table.Td>
              <Table.Td>{run.removed}</Table.Td>
              <Table.Td>{run.error ? <Tag tone="error">error</Tag> : <Tag tone="success">succeeded</Tag>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
