import { useState } from "react";
import { Button, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import type { Entity } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import { number, texts } from "../../text";
import { podsOf, problemsOf, workloadsOf, type Place, type Pod, type Problem, type Workload } from "./facts";
import { Events, Log } from "./Panel";
import { useWorkloads } from "./queries";
import tables from "../Entity.module.css";
import { Notice } from "../../components/Notice";
import styles from "./Workloads.module.css";

const words = texts.entity.workloads;

// Opened is what the panel shows.
type Opened = { title: string } & ({ what: "log"; pod: Pod } | { what: "events"; of: Place });

// WorkloadsTab shows what runs in clusters for an entity, and refreshes it.
export default function WorkloadsTab({ entity }: { entity: Entity }) {
  const query = useWorkloads(entity);
  const [opened, setOpened] = useState<Opened>();
  if (!query.data) {
    return query.error ? <ErrorAlert error={query.error} retry={() => void query.refetch()} /> : <Loading label={words.loading} />;
  }
  const { items } = query.data;
  const workloads = workloadsOf(items);
  const pods = podsOf(items);
  const problems = problemsOf(items);
  return (
    <Stack gap="lg">
      {query.error && <ErrorAlert title={texts.entity.page.outdated} error={query.error} retry={() => void query.refetch()} />}
      <Problems problems={problems} />
      {workloads.length + pods.length === 0 && problems.length === 0 && (
        <Empty title={words.none}>{words.noneHint}</Empty>
      )}
      {workloads.length > 0 && <Workloads workloads={workloads} open={setOpened} />}
      {pods.length > 0 && <Pods pods={pods} open={setOpened} />}
      <Text size="sm" c="dimmed">
        {words.refreshes}
      </Text>
      <Panel entity={entity} opened={opened} close={() => setOpened(undefined)} />
    </Stack>
  );
}

// Problems lists what could not be read, by cluster.
function Problems({ problems }: { problems: Problem[] }) {
  if (problems.length === 0) {
    return null;
  }
  const clusters = [...new Set(problems.map((p) => p.cluster))];
  return (
    <Notice tone="warning" title={words.problems} role="status">
      <Stack gap="xs">
        {clusters.map((cluster) => (
          <div key={cluster}>
            <Text size="sm" fw={600}>{words.cluster(cluster)}</Text>
            <ul className={styles.problems}>
              {problems
                .filter((p) => p.cluster === cluster)
                .map((p) => (
                  <li key={p.message}>{p.message}</li>
                ))}
            </ul>
          </div>
        ))}
      </Stack>
    </Notice>
  );
}

function keyOf(p: Place): string {
  return `${p.cluster} ${p.type} ${p.namespace}/${p.name}`;
}

// Where names the namespace and cluster of an object.
function Where({ of }: { of: Place }) {
  return <Text component="span" size="xs" c="dimmed" display="block">{`${of.namespace} · ${of.cluster}`}</Text>;
}

// Titled is a table with a heading.
function Titled<T extends Place>({ title, columns, rows }: { title: string; columns: Column<T>[]; rows: T[] }) {
  return (
    <div>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <DataTable label={title} columns={columns} rows={rows} keyOf={keyOf} />
    </div>
  );
}

// widths line up the columns of both tables.
const widths = { name: 280, second: 104, ready: 72, created: 120, actions: 136 };

// nameColumn has the name of an object, and where it is.
const nameColumn: Column<Place> = {
  title: words.name,
  priority: "key",
  width: widths.name,
  cell: (p) => (
    <>
      {p.name}
      <Where of={p} />
    </>
  ),
};

const createdColumn: Column<{ created?: string }> = { title: words.created, cell: (p) => <Time at={p.created} />, priority: "low", width: widths.created };

function Workloads({ workloads, open }: { workloads: Workload[]; open: (o: Opened) => void }) {
  const columns: Column<Workload>[] = [
    nameColumn,
    { title: words.kind, cell: (w) => w.kind, width: widths.second },
    { title: words.ready, cell: (w) => (w.wanted === undefined ? "–" : `${w.ready}/${w.wanted}`), width: widths.ready },
    { title: words.state, cell: (w) => <Tag tone={w.tone}>{sentence(w.state)}</Tag> },
    createdColumn,
    {
      title: words.actions,
      silent: true,
      priority: "actions",
      width: widths.actions,
      cell: (w) => (
        <Button size="compact-xs" variant="default" aria-label={words.eventsOf(w.kind, w.name)} onClick={() => open({ title: words.eventsOf(w.kind, w.name), what: "events", of: w })}>
          {words.events}
        </Button>
      ),
    },
  ];
  return <Titled title={words.workloads} columns={columns} rows={workloads} />;
}

function Pods({ pods, open }: { pods: Pod[]; open: (o: Opened) => void }) {
  const columns: Column<Pod>[] = [
    nameColumn,
    { title: words.restarts, cell: (p) => number(p.restarts), width: widths.second },
    { title: words.ready, cell: (p) => `${p.ready}/${p.containers.length}`, width: widths.ready },
    {
      title: words.state,
      cell: (p) => (
        <>
          <Tag tone={p.tone}>{sentence(p.state)}</Tag>
          {p.message && (
            <Text size="sm" c="dimmed" className={tables.message}>
              {p.message}
            </Text>
          )}
        </>
      ),
    },
    createdColumn,
    {
      title: words.actions,
      silent: true,
      priority: "actions",
      width: widths.actions,
      cell: (p) => (
        <Group gap={8} wrap="nowrap">
          <Button size="compact-xs" variant="default" aria-label={words.logsOf(p.name)} onClick={() => open({ title: words.logsOf(p.name), what: "log", pod: p })}>
            {words.logs}
          </Button>
          <Button size="compact-xs" variant="default" aria-label={words.eventsOf(words.pod, p.name)} onClick={() => open({ title: words.eventsOf(words.pod, p.name), what: "events", of: p })}>
            {words.events}
          </Button>
        </Group>
      ),
    },
  ];
  return <Titled title={words.pods} columns={columns} rows={pods} />;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Panel shows the log or the events of an object.
function Panel({ entity, opened, close }: { entity: Entity; opened: Opened | undefined; close: () => void }) {
  return (
    <Drawer.Root opened={opened !== undefined} onClose={close} position="right" size="xl">
      <Drawer.Overlay />
      <Drawer.Content>
        {/* Outside of the main content a header would be a second banner. */}
        <Drawer.Header role="presentation">
          <Drawer.Title fw={600}>{opened?.title}</Drawer.Title>
          <Drawer.CloseButton aria-label={words.close} />
        </Drawer.Header>
        <Drawer.Body>
          {opened?.what === "log" && <Log entity={entity} pod={opened.pod} />}
          {opened?.what === "events" && <Events entity={entity} of={opened.of} />}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
