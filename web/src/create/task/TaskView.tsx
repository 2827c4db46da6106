import { useEffect, useState } from "react";
import { Button, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { fetchJson } from "../../api/client";
import { parseRef, templatePath } from "../../api/entity";
import type { Task } from "../../api/types";
import { usePermission } from "../../app/permission";
import { PermissionTooltip } from "../../components/PermissionTooltip";
import { save } from "../../components/Download";
import { Icon } from "../../components/Icon";
import { Page } from "../../components/Page";
import { RefLink } from "../../components/RefLink";
import { ErrorAlert, Loading, messageOf } from "../../components/State";
import { Tag } from "../../components/Tag";
import { duration, Time } from "../../components/Time";
import type { Copied } from "../useTemplateForm";
import type { Values } from "../form/types";
import { Origin } from "../Origin";
import { isOver, taskPath } from "../queries";
import { stateOf } from "../status";
import { labelOf, templateOf, templateTitle } from "../TasksPage";
import { CreatedResource } from "./CreatedResource";
import type { TaskLog } from "./taskLog";
import { LogView } from "./LogView";
import { OutputView } from "./OutputView";
import { fetchFullLog } from "./stream";
import { useTask } from "./useTask";
import { Notice } from "../../components/Notice";
import styles from "./Log.module.css";

// TaskView shows a task with its steps, log and output.
export function TaskView({ id }: { id: string }) {
  const { task, log, version, lost, failed, read, again } = useTask(id);
  const [step, setStep] = useState<string>();
  if (task.isPending) {
    return (
      <Page title="Task">
        <Loading label="Loading task" lines={8} />
      </Page>
    );
  }
  if (!task.data) {
    return (
      <Page title="Task">
        <ErrorAlert error={task.error} title="Cannot load the task" retry={() => void task.refetch()} />
      </Page>
    );
  }
  const { word, tone } = stateOf(task.data.status);
  const over = isOver(task.data.status);
  return (
    <Page
      title={labelOf(task.data)}
      lead={
        <Group gap="xs" role="status" aria-live="polite">
          <Tag tone={tone}>{word}</Tag>
          <span>
            started <Time at={task.data.createdAt} />
          </span>
          {templateOf(task.data) !== "" && (
            <span>
              from <RefLink to={templateOf(task.data)}>{templateTitle(task.data)}</RefLink>
            </span>
          )}
          <Origin of={task.data.origin} />
        </Group>
      }
      actions={<Actions task={task.data} onChange={again} />}
    >
      {lost !== undefined && !over && (
        <Text size="sm" role="status" c="dimmed">
          Cannot reach the portal right now. The task keeps running; this page catches up when the connection is back.
        </Text>
      )}
      {failed !== undefined && <ErrorAlert error={failed} title="Cannot load the log" retry={again} />}
      {log.error !== undefined && task.data.status === "failed" && (
        <Notice tone="error" title="Task failed" role="alert">
          <Text size="sm" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {log.error}
          </Text>
          {log.hint !== undefined && (
            <Text size="sm" mt={4} style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
              {`Hint: ${log.hint}.`}
            </Text>
          )}
        </Notice>
      )}
      {task.data.status === "completed" && <CreatedResource task={task.data} log={log} />}
      {log.output && <OutputView output={log.output} />}
      <div className={styles.columns}>
        <section aria-label="Steps">
          <Title order={2} size="h4" mb="xs">
            Steps
          </Title>
          <Steps task={task.data} log={log} over={over && read} chosen={step} onChoose={setStep} />
        </section>
        <Stack gap="xs" component="section" aria-label="Log">
          <Group justify="space-between">
            <Title order={2} size="h4">
              {step === undefined ? "Log" : `Log of ${task.data.spec.steps.find((s) => s.id === step)?.name ?? step}`}
            </Title>
            <DownloadLog id={id} over={over} />
          </Group>
          <LogView key={step ?? ""} log={log} version={version} step={step} over={over && read} />
        </Stack>
      </div>
    </Page>
  );
}

function Steps({ task, log, over, chosen, onChoose }: { task: Task; log: TaskLog; over: boolean; chosen: string | undefined; onChoose: (step: string | undefined) => void }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (over) {
      return;
    }
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [over]);
  return (
    <ol className={styles.steps}>
      {task.spec.steps.map((s) => {
        const state = log.steps.get(s.id) ?? { status: "" };
        const { word, tone } = stateOf(state.status === "" && over ? "skipped" : state.status);
        const took = state.from === undefined || state.status === "skipped" ? undefined : (state.to ?? Math.max(now, state.from)) - state.from;
        return (
          <li key={s.id}>
            <UnstyledButton className={styles.step} aria-pressed={chosen === s.id} onClick={() => onChoose(chosen === s.id ? undefined : s.id)}>
              <span>{s.name || s.id}</span>
              <Group gap="xs" wrap="nowrap">
                {took !== undefined && (
                  <Text span size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                    {duration(took)}
                  </Text>
                )}
                <Tag tone={tone}>{word}</Tag>
              </Group>
            </UnstyledButton>
          </li>
        );
      })}
    </ol>
  );
}

// Actions are the buttons of a task: cancel, retry and run again.
function Actions({ task, onChange }: { task: Task; onChange: () => void }) {
  const navigate = useNavigate();
  const canCancel = usePermission("scaffolder.task.cancel");
  const ref = templateOf(task);
  const canCreate = usePermission("scaffolder.task.create", ref || undefined);
  const act = useMutation({ mutationFn: (what: "cancel" | "retry") => fetchJson(`${taskPath(task.id)}/${what}`, { json: {} }), onSuccess: onChange });
  const same = () => {
    const copied: Copied = { values: task.spec.parameters as Values, at: Date.now() };
    void navigate(templatePath(parseRef(ref)), { state: { copied } });
  };
  return (
    <Stack gap={4} align="flex-end">
      <Group gap="xs">
        {!isOver(task.status) && (
          <PermissionTooltip access={canCancel}>
            <Button variant="default" leftSection={<Icon name="stop" size={16} />} onClick={() => act.mutate("cancel")} loading={act.isPending} disabled={!canCancel.allowed}>
              Cancel
            </Button>
          </PermissionTooltip>
        )}
        {(task.status === "failed" || task.status === "cancelled") && (
          <PermissionTooltip access={canCreate}>
            <Button leftSection={<Icon name="refresh" size={16} />} title="Resumes after the last completed step" onClick={() => act.mutate("retry")} loading={act.isPending} disabled={!canCreate.allowed}>
              Retry
            </Button>
          </PermissionTooltip>
        )}
        {ref !== "" && isOver(task.status) && (
          <Button variant="default" onClick={same}>
            Run again
          </Button>
        )}
        <Button variant="default" component={Link} to="/tasks">
          All tasks
        </Button>
      </Group>
      {act.isError && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {messageOf(act.error)}
        </Text>
      )}
    </Stack>
  );
}

function DownloadLog({ id, over }: { id: string; over: boolean }) {
  const get = useMutation({
    mutationFn: async () => {
      const log = await fetchFullLog(id);
      save(`task-${id}.log`, await log.text(), "text/plain");
    },
  });
  return (
    <Group gap="xs">
      {get.isError && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {messageOf(get.error)}
        </Text>
      )}
      <Button size="xs" variant="default" leftSection={<Icon name="download" size={14} />} onClick={() => get.mutate()} loading={get.isPending} disabled={!over} title={over ? undefined : "Available when the task has finished"}>
        Download log
      </Button>
    </Group>
  );
}
