import { useEffect, useMemo, useState } from "react";
import { Button, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { ApiError, fetchJson } from "../../api/client";
import { parseRef, templatePath } from "../../api/entity";
import type { Task } from "../../api/types";
import { usePermission } from "../../app/permission";
import { useSession } from "../../app/session";
import { PermissionTooltip } from "../../components/PermissionTooltip";
import { save } from "../../components/Download";
import { Icon } from "../../components/Icon";
import { NotFound } from "../../components/NotFound";
import { Page } from "../../components/Page";
import { RefLink } from "../../components/RefLink";
import { ErrorAlert, Loading, messageOf } from "../../components/State";
import { Tag } from "../../components/Tag";
import { duration, Time } from "../../components/Time";
import type { Copied } from "../useTemplateForm";
import type { Values } from "../form/types";
import { Origin } from "../Origin";
import { isOver, taskPath, useTitleOf } from "../queries";
import { stateOf } from "../status";
import { labelOf, templateOf, templateTitle, tookOf } from "../labels";
import { CreatedResource } from "./CreatedResource";
import type { TaskLog } from "./taskLog";
import { LogView } from "./LogView";
import { OutputView } from "./OutputView";
import { fetchFullLog } from "./stream";
import { useTask } from "./useTask";
import { Notice } from "../../components/Notice";
import { texts } from "../../text";
import styles from "./Log.module.css";

const words = texts.create.task;
const trail = [{ label: texts.app.tasks, to: "/tasks" }];

// TaskView shows a task with its steps, log and output.
export function TaskView({ id }: { id: string }) {
  const { task, log, version, lost, failed, read, again } = useTask(id);
  // undefined is the step that failed, if there is one; null all steps.
  const [chosen, setChosen] = useState<string | null>();
  if (task.isPending) {
    return (
      <Page title={words.title} trail={trail}>
        <Loading label={words.loading} lines={8} />
      </Page>
    );
  }
  if (!task.data) {
    if (task.error instanceof ApiError && task.error.status === 404) {
      return <NotFound title={words.notFound} hint={words.notFoundHint} />;
    }
    return (
      <Page title={words.title} trail={trail}>
        <ErrorAlert error={task.error} title={words.failed} retry={() => void task.refetch()} />
      </Page>
    );
  }
  const over = isOver(task.data.status);
  const failing = task.data.status === "failed" ? task.data.spec.steps.find((s) => log.steps.get(s.id)?.status === "failed") : undefined;
  const step = chosen === undefined ? failing?.id : (chosen ?? undefined);
  return (
    <Page title={labelOf(task.data)} trail={trail} lead={<Lead task={task.data} />} actions={<Actions task={task.data} onChange={again} />}>
      {lost !== undefined && !over && (
        <Text size="sm" role="status" c="dimmed">
          {words.lost}
        </Text>
      )}
      {failed !== undefined && <ErrorAlert error={failed} title={words.noLog} retry={again} />}
      {log.error !== undefined && task.data.status === "failed" && (
        <Notice tone="error" title={failing ? words.failedAt(failing.name || failing.id) : words.taskFailed} role="alert">
          <Text size="sm" className={styles.cause}>
            {log.error}
          </Text>
          {log.hint !== undefined && (
            <Text size="sm" mt={4} className={styles.cause}>
              {words.hint(log.hint)}
            </Text>
          )}
        </Notice>
      )}
      {task.data.status === "completed" && <CreatedResource task={task.data} log={log} />}
      {log.output && <OutputView output={log.output} />}
      <div className={styles.columns}>
        <section aria-label={words.steps}>
          <Title order={2} size="h3" mb="xs">
            {words.steps}
          </Title>
          <Steps task={task.data} log={log} over={over && read} chosen={step} onChoose={(next) => setChosen(next ?? null)} />
        </section>
        <Stack gap="xs" component="section" aria-label={words.log}>
          <Group justify="space-between">
            <Title order={2} size="h3">
              {step === undefined ? words.log : words.logOf(task.data.spec.steps.find((s) => s.id === step)?.name ?? step)}
            </Title>
            <DownloadLog id={id} over={over} />
          </Group>
          <LogView key={step ?? ""} log={log} version={version} step={step} over={over && read} />
        </Stack>
      </div>
    </Page>
  );
}

// Lead is the status of a task, who started it, when and from which Template, and how long it took.
function Lead({ task }: { task: Task }) {
  const { word, tone } = stateOf(task.status);
  const { userRef } = useSession();
  const by = task.createdBy ?? "";
  const refs = useMemo(() => (by === "" || by === userRef ? [] : [by]), [by, userRef]);
  const titleOf = useTitleOf(refs);
  const took = tookOf(task);
  return (
    <Group gap="xs" role="status" aria-live="polite">
      <Tag tone={tone}>{word}</Tag>
      <span className={styles.part}>
        {words.started} <Time at={task.createdAt} />
      </span>
      {by !== "" && (
        <span className={styles.part}>
          {words.by} {by === userRef ? words.you : <RefLink to={by}>{titleOf(by)}</RefLink>}
        </span>
      )}
      {templateOf(task) !== "" && (
        <span className={styles.part}>
          {words.from} <RefLink to={templateOf(task)}>{templateTitle(task)}</RefLink>
        </span>
      )}
      {took !== undefined && <span className={styles.part}>{words.took(duration(took))}</span>}
      <Origin of={task.origin} />
    </Group>
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
              {words.cancel}
            </Button>
          </PermissionTooltip>
        )}
        {(task.status === "failed" || task.status === "cancelled") && (
          <PermissionTooltip access={canCreate}>
            <Button leftSection={<Icon name="refresh" size={16} />} title={words.retryHint} onClick={() => act.mutate("retry")} loading={act.isPending} disabled={!canCreate.allowed}>
              {words.retry}
            </Button>
          </PermissionTooltip>
        )}
        {ref !== "" && isOver(task.status) && (
          <Button variant="default" onClick={same}>
            {words.again}
          </Button>
        )}
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
      <Button size="xs" variant="default" leftSection={<Icon name="download" size={14} />} onClick={() => get.mutate()} loading={get.isPending} disabled={!over} title={over ? undefined : words.downloadLater}>
        {words.download}
      </Button>
    </Group>
  );
}
