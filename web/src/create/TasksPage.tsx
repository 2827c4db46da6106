import { useMemo } from "react";
import { Anchor, Button, Group, MultiSelect, Table, Text } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { parseRef } from "../api/entity";
import type { Task } from "../api/types";
import { usePermission } from "../app/permission";
import { useSession } from "../app/session";
import { Page } from "../components/Page";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag } from "../components/Tag";
import { duration, Time } from "../components/Time";
import { texts } from "../text";
import { distinct } from "./cards";
import { labelOf, templateOf, templateTitle, tookOf } from "./labels";
import { tasksPerPage, useTasks, useTitleOf, type TaskFilter } from "./queries";
import { stateOf, taskStates } from "./status";
import styles from "./Tasks.module.css";

const words = texts.create.tasks;

function readFilter(params: URLSearchParams): TaskFilter {
  const page = Number(params.get("page") ?? 1) - 1;
  return { status: params.getAll("status").filter((s) => taskStates.includes(s)), template: params.getAll("template"), page: Number.isInteger(page) && page > 0 ? page : 0 };
}

function writeFilter(filter: TaskFilter): URLSearchParams {
  const params = new URLSearchParams();
  filter.status.forEach((s) => params.append("status", s));
  filter.template.forEach((t) => params.append("template", t));
  if (filter.page > 0) {
    params.set("page", String(filter.page + 1));
  }
  return params;
}

// TasksPage lists the tasks of the current user, newest first.
export default function TasksPage() {
  const [params, setParams] = useSearchParams();
  const filter = readFilter(params);
  const tasks = useTasks(filter);
  const access = usePermission("scaffolder.task.read");
  const { guest } = useSession();
  const change = (part: Partial<TaskFilter>) => setParams(writeFilter({ ...filter, page: 0, ...part }));
  const known = new Map((tasks.data?.tasks ?? []).map((t) => [templateOf(t), templateTitle(t)]));
  const templates = distinct([...filter.template, ...known.keys()]);
  return (
    <Page
      title={texts.app.tasks}
      lead={words.lead}
      actions={
        <Button component={Link} to="/create" variant="default">
          {words.browse}
        </Button>
      }
    >
      {guest && access.known && !access.allowed ? (
        <Empty title={words.guests}>{access.reason}</Empty>
      ) : (
        <>
          <div className={styles.filters}>
            <MultiSelect
              aria-label={words.status}
              placeholder={filter.status.length === 0 ? words.allStatuses : undefined}
              data={taskStates.map((s) => ({ value: s, label: stateOf(s).word }))}
              value={filter.status}
              onChange={(status) => change({ status })}
              clearable
            />
            <MultiSelect
              aria-label={words.template}
              placeholder={filter.template.length === 0 ? words.allTemplates : undefined}
              data={templates.map((t) => ({ value: t, label: known.get(t) ?? parseRef(t).name }))}
              value={filter.template}
              onChange={(template) => change({ template })}
              clearable
              searchable
            />
          </div>
          <List tasks={tasks} filter={filter} onPage={(page) => change({ page })} onClear={() => setParams({})} />
        </>
      )}
    </Page>
  );
}

function List({ tasks, filter, onPage, onClear }: { tasks: ReturnType<typeof useTasks>; filter: TaskFilter; onPage: (page: number) => void; onClear: () => void }) {
  const creators = useMemo(() => distinct((tasks.data?.tasks ?? []).map((t) => t.createdBy ?? "")), [tasks.data]);
  const titleOf = useTitleOf(creators);
  if (tasks.isPending) {
    return <Loading label={words.loading} lines={8} />;
  }
  if (tasks.isError && !tasks.data) {
    return <ErrorAlert error={tasks.error} title={words.failed} retry={() => void tasks.refetch()} />;
  }
  const { tasks: all, totalTasks: total } = tasks.data!;
  if (total === 0 || all.length === 0) {
    return <NoTasks narrowed={filter.status.length + filter.template.length > 0 || filter.page > 0} onClear={onClear} />;
  }
  return (
    <>
      {tasks.isError && <ErrorAlert error={tasks.error} title={words.stale} retry={() => void tasks.refetch()} />}
      <Table highlightOnHover verticalSpacing="sm" className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.task}</Table.Th>
            <Table.Th>{words.status}</Table.Th>
            <Table.Th>{words.startedBy}</Table.Th>
            <Table.Th>{words.started}</Table.Th>
            <Table.Th>{words.duration}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {all.map((task) => (
            <Row key={task.id} task={task} titleOf={titleOf} />
          ))}
        </Table.Tbody>
      </Table>
      <Paging total={total} page={filter.page} onPage={onPage} />
    </>
  );
}

function NoTasks({ narrowed, onClear }: { narrowed: boolean; onClear: () => void }) {
  return narrowed ? (
    <Empty
      title={words.noResults}
      action={
        <Button variant="default" onClick={onClear}>
          {words.clear}
        </Button>
      }
    >
      {words.noResultsHint}
    </Empty>
  ) : (
    <Empty
      title={words.none}
      action={
        <Button component={Link} to="/create">
          {words.browse}
        </Button>
      }
    >
      {words.noneHint}
    </Empty>
  );
}

function Paging({ total, page, onPage }: { total: number; page: number; onPage: (page: number) => void }) {
  const pages = Math.ceil(total / tasksPerPage);
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed" role="status">
        {words.count(total)}
      </Text>
      {pages > 1 && (
        <Group gap="xs">
          <Button size="xs" variant="default" disabled={page === 0} onClick={() => onPage(page - 1)}>
            {words.newer}
          </Button>
          <Text size="sm">{words.page(page + 1, pages)}</Text>
          <Button size="xs" variant="default" disabled={page + 1 >= pages} onClick={() => onPage(page + 1)}>
            {words.older}
          </Button>
        </Group>
      )}
    </Group>
  );
}

function Row({ task, titleOf }: { task: Task; titleOf: (ref: string) => string }) {
  const { word, tone } = stateOf(task.status);
  const { userRef } = useSession();
  const took = tookOf(task);
  return (
    <Table.Tr>
      <Table.Td className={styles.name}>
        <Anchor component={Link} to={`/tasks/${encodeURIComponent(task.id)}`} fw={500} style={{ overflowWrap: "anywhere" }}>
          {labelOf(task)}
        </Anchor>
      </Table.Td>
      <Table.Td className={styles.status}>
        <Tag tone={tone}>{word}</Tag>
      </Table.Td>
      <Table.Td>{task.createdBy === undefined ? words.service : task.createdBy === userRef ? words.you : <RefLink to={task.createdBy}>{titleOf(task.createdBy)}</RefLink>}</Table.Td>
      <Table.Td>
        <Time at={task.createdAt} />
      </Table.Td>
      <Table.Td>{took === undefined ? "" : duration(took)}</Table.Td>
    </Table.Tr>
  );
}
