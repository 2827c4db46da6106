import { useState, type ReactNode } from "react";
import { Button, Drawer, Group, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import type { Entity } from "../../api/types";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import { podsOf, problemsOf, workloadsOf, type Place, type Pod, type Problem, type Workload } from "./facts";
import { Events, Log } from "./Panel";
import { useWorkloads } from "./queries";
import tables from "../Entity.module.css";
import { Notice } from "../../components/Notice";
import styles from "./Workloads.module.css";

// Opened is what the panel shows.
type Opened = { what: "log"; pod: Pod } | { what: "events"; of: Place };

// WorkloadsTab shows what runs in clusters for an entity, and refreshes it.
export default function WorkloadsTab({ entity }: { entity: Entity }) {
  const query = useWorkloads(entity);
  const [opened, setOpened] = useState<Opened>();
  if (!query.data) {
    return query.error ? <ErrorAlert error={query.error} retry={() => void query.refetch()} /> : <Loading label="Loading workloads" />;
  }
  const { items } = query.data;
  const workloads = workloadsOf(items);
  const pods = podsOf(items);
  const problems = problemsOf(items);
  return (
    <Stack gap="lg">
      {query.error && <ErrorAlert title="This data may be out of date" error={query.error} retry={() => void query.refetch()} />}
      <Problems problems={problems} />
      {workloads.length + pods.length === 0 && problems.length === 0 && (
        <Empty title="No workloads">No cluster has objects with the labels that the annotations of this entity select.</Empty>
      )}
      {workloads.length > 0 && <Workloads workloads={workloads} open={setOpened} />}
      {pods.length > 0 && <Pods pods={pods} open={setOpened} />}
      <Text size="sm" c="dimmed">
        Refreshes every 5 s.
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
    <Notice tone="warning" title="Some objects could not be read" role="status">
      <Stack gap="xs">
        {clusters.map((cluster) => (
          <div key={cluster}>
            <Text size="sm" fw={600}>{`Cluster ${cluster}`}</Text>
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

// ObjectTable is a table of objects with a title. Its last column has buttons.
function ObjectTable({ title, columns, children }: { title: string; columns: string[]; children: ReactNode }) {
  return (
    <div>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <div className={tables.scroll} tabIndex={0} role="region" aria-label={title}>
        <table className={`${tables.table} ${styles.table}`}>
          <thead>
            <tr>
              {columns.map((c) => (
                <th key={c} scope="col">
                  {c}
                </th>
              ))}
              <th scope="col">
                <VisuallyHidden>Actions</VisuallyHidden>
              </th>
            </tr>
          </thead>
          <tbody>
            {children}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Workloads({ workloads, open }: { workloads: Workload[]; open: (o: Opened) => void }) {
  return (
    <ObjectTable title="Workloads" columns={["Name", "Kind", "Ready", "State", "Created"]}>
      {workloads.map((w) => (
        <tr key={keyOf(w)}>
          <th scope="row">
            {w.name}
            <Where of={w} />
          </th>
          <td>{w.kind}</td>
          <td>{w.wanted === undefined ? "–" : `${w.ready}/${w.wanted}`}</td>
          <td>
            <Tag tone={w.tone}>{w.state}</Tag>
          </td>
          <td>
            <Time at={w.created} />
          </td>
          <td>
            <Button size="compact-xs" variant="default" aria-label={`Events of ${w.kind} ${w.name}`} onClick={() => open({ what: "events", of: w })}>
              Events
            </Button>
          </td>
        </tr>
      ))}
    </ObjectTable>
  );
}

function Pods({ pods, open }: { pods: Pod[]; open: (o: Opened) => void }) {
  return (
    <ObjectTable title="Pods" columns={["Name", "Ready", "State", "Restarts", "Created"]}>
      {pods.map((p) => (
        <tr key={keyOf(p)}>
          <th scope="row">
            {p.name}
            <Where of={p} />
          </th>
          <td>{`${p.ready}/${p.containers.length}`}</td>
          <td>
            <Tag tone={p.tone}>{p.state}</Tag>
            {p.message && (
              <Text size="sm" c="dimmed" className={tables.message}>
                {p.message}
              </Text>
            )}
          </td>
          <td>{p.restarts}</td>
          <td>
            <Time at={p.created} />
          </td>
          <td>
            <Group gap={6} wrap="nowrap">
              <Button size="compact-xs" variant="default" aria-label={`Logs of pod ${p.name}`} onClick={() => open({ what: "log", pod: p })}>
                Logs
              </Button>
              <Button size="compact-xs" variant="default" aria-label={`Events of pod ${p.name}`} onClick={() => open({ what: "events", of: p })}>
                Events
              </Button>
            </Group>
          </td>
        </tr>
      ))}
    </ObjectTable>
  );
}

// Panel shows the log or the events of an object.
function Panel({ entity, opened, close }: { entity: Entity; opened: Opened | undefined; close: () => void }) {
  const of = opened?.what === "log" ? opened.pod : opened?.of;
  return (
    <Drawer.Root opened={opened !== undefined} onClose={close} position="right" size="xl">
      <Drawer.Overlay />
      <Drawer.Content>
        {/* Outside of the main content a header would be a second banner. */}
        <Drawer.Header role="presentation">
          <Drawer.Title>{of?.name}</Drawer.Title>
          <Drawer.CloseButton aria-label="Close" />
        </Drawer.Header>
        <Drawer.Body>
          {opened?.what === "log" && <Log entity={entity} pod={opened.pod} />}
          {opened?.what === "events" && <Events entity={entity} of={opened.of} />}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
