import { Anchor, Button, Group, MultiSelect, Table, Text } from "@mantine/core";
import { Link, useSearchParams } from "react-router";
import { parseRef, templatePath } from "../api/entity";
import type { Task } from "../api/types";
import { usePermission } from "../app/permission";
import { useSession } from "../app/session";
import { Page } from "../components/Page";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Tag } from "../components/Tag";
import { duration, Time } from "../components/Time";
import { distinct } from "./cards";
import { isOver, tasksPerPage, useTasks, type TaskFilter } from "./queries";
import { stateOf, taskStates } from "./status";
import styles from "./Cards.module.css";

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
  const templates = distinct([...filter.template, ...(tasks.data?.tasks ?? []).map(templateOf)]);
  return (
    <Page
      title="Tasks"
      lead="Tasks started from templates, and their results."
      actions={
        <Button component={Link} to="/create" variant="default">
          Browse templates
        </Button>
      }
    >
      {guest && access.known && !access.allowed ? (
        <Empty title="Guests have no tasks">{access.reason}</Empty>
      ) : (
        <>
          <div className={styles.filters}>
            <MultiSelect label="Status" placeholder={filter.status.length === 0 ? "All" : undefined} data={taskStates.map((s) => ({ value: s, label: stateOf(s).word }))} value={filter.status} onChange={(status) => change({ status })} clearable />
            <MultiSelect label="Template" placeholder={filter.template.length === 0 ? "All" : undefined} data={templates.map((t) => ({ value: t, label: parseRef(t).name }))} value={filter.template} onChange={(template) => change({ template })} clearable searchable />
          </div>
          <List tasks={tasks} filter={filter} onPage={(page) => change({ page })} />
        </>
      )}
    </Page>
  );
}

function List({ tasks, filter, onPage }: { tasks: ReturnType<typeof useTasks>; filter: TaskFilter; onPage: (page: number) => void }) {
  if (tasks.isPending) {
    return <Loading label="Loading tasks" lines={8} />;
  }
  if (tasks.isError && !tasks.data) {
    return <ErrorAlert error={tasks.error} title="Cannot load tasks" retry={() => void tasks.refetch()} />;
  }
  const { tasks: all, totalTasks: total } = tasks.data!;
  if (total === 0 || all.length === 0) {
    const narrowed = filter.status.length + filter.template.length > 0 || filter.page > 0;
    return narrowed ? <Empty title="No results">Clear the filters.</Empty> : <Empty title="No tasks yet">Choose a template under Create. Its tasks are listed here.</Empty>;
  }
  const pages = Math.ceil(total / tasksPerPage);
  return (
    <>
      {tasks.isError && <ErrorAlert error={tasks.error} title="This data may be out of date" retry={() => void tasks.refetch()} />}
      <Table.ScrollContainer minWidth={560}>
        <Table highlightOnHover verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Task</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Template</Table.Th>
              <Table.Th>Started</Table.Th>
              <Table.Th>Duration</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {all.map((task) => (
              <Row key={task.id} task={task} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {total === 1 ? "1 task" : `${total.toLocaleString("en")} tasks`}
        </Text>
        {pages > 1 && (
          <Group gap="xs">
            <Button size="xs" variant="default" disabled={filter.page === 0} onClick={() => onPage(filter.page - 1)}>
              Newer
            </Button>
            <Text size="sm">{`Page ${filter.page + 1} of ${pages}`}</Text>
            <Button size="xs" variant="default" disabled={filter.page + 1 >= pages} onClick={() => onPage(filter.page + 1)}>
              Older
            </Button>
          </Group>
        )}
      </Group>
    </>
  );
}

export function templateOf(task: Task): string {
  return task.spec.templateInfo?.entityRef ?? "";
}

// templateTitle returns the title of a task's Template.
export function templateTitle(task: Task): string {
  const title = (task.spec.templateInfo?.entity as { metadata?: { title?: unknown } } | undefined)?.metadata?.title;
  return typeof title === "string" && title !== "" ? title : parseRef(templateOf(task)).name;
}

// labelOf names a task by its Template and resource.
export function labelOf(task: Task): string {
  const name = (task.spec.parameters as Record<string, unknown>)["name"];
  const what = templateTitle(task) || "Task";
  return typeof name === "string" && name !== "" ? `${what} ${name}` : what;
}

function Row({ task }: { task: Task }) {
  const { word, tone } = stateOf(task.status);
  const ref = templateOf(task);
  const took = isOver(task.status) && task.lastHeartbeatAt ? Date.parse(task.lastHeartbeatAt) - Date.parse(task.createdAt) : undefined;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} to={`/tasks/${encodeURIComponent(task.id)}`} style={{ overflowWrap: "anywhere" }}>
          {labelOf(task)}
        </Anchor>
      </Table.Td>
      <Table.Td>
        <Tag tone={tone}>{word}</Tag>
      </Table.Td>
      <Table.Td>
        {ref === "" ? (
          "none"
        ) : (
          <Anchor component={Link} to={templatePath(parseRef(ref))} style={{ overflowWrap: "anywhere" }}>
            {templateTitle(task)}
          </Anchor>
        )}
      </Table.Td>
      <Table.Td>
        <Time at={task.createdAt} />
      </Table.Td>
      <Table.Td>{took === undefined ? "" : duration(took)}</Table.Td>
    </Table.Tr>
  );
}
