import { useEffect, useState } from "react";
import { Alert, Button, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { ask } from "../../api/client";
import { parseRef, templatePath } from "../../api/entity";
import type { Task } from "../../api/types";
import { useMay } from "../../app/may";
import { Denied } from "../../parts/Denied";
import { save } from "../../parts/Download";
import { Icon } from "../../parts/Icon";
import { Page } from "../../parts/Page";
import { RefLink } from "../../parts/Ref";
import { Failed, Loading, messageOf } from "../../parts/State";
import { Tag } from "../../parts/Tag";
import { duration, Time } from "../../parts/Time";
import { draftKey, saveDraft } from "../form/draft";
import type { Values } from "../form/types";
import { Origin } from "../Origin";
import { isOver, taskPath } from "../queries";
import { stateOf } from "../status";
import { labelOf, templateOf, templateTitle } from "../TasksPage";
import { Appeared } from "./Appeared";
import type { Journal } from "./journal";
import { LogView } from "./LogView";
import { OutputView } from "./OutputView";
import { wholeLog } from "./stream";
import { useTask } from "./useTask";
import styles from "./Log.module.css";

// TaskView is a task as it runs: its steps, its log, and what came of it.
export function TaskView({ id }: { id: string }) {
  const { task, journal, version, lost, failed, read, again } = useTask(id);
  const [step, setStep] = useState<string>();
  if (task.isPending) {
    return (
      <Page title="Task">
        <Loading label="Loading the task" lines={8} />
      </Page>
    );
  }
  if (!task.data) {
    return (
      <Page title="Task">
        <Failed error={task.error} title="The task cannot be read" retry={() => void task.refetch()} />
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
          The portal does not answer right now. The task goes on without this page; what happened meanwhile is shown when it answers again.
        </Text>
      )}
      {failed !== undefined && <Failed error={failed} title="The log cannot be read" retry={again} />}
      {journal.error !== undefined && task.data.status === "failed" && (
        <Alert color="red" variant="outline" icon={<Icon name="error" />} title="The task failed" role="alert">
          <Text size="sm" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {journal.error}
          </Text>
          {journal.hint !== undefined && (
            <Text size="sm" mt={4} style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
              {`What helps: ${journal.hint}.`}
            </Text>
          )}
        </Alert>
      )}
      {task.data.status === "completed" && <Appeared task={task.data} journal={journal} />}
      {journal.output && <OutputView output={journal.output} />}
      <div className={styles.columns}>
        <section aria-label="Steps">
          <Title order={2} size="h4" mb="xs">
            Steps
          </Title>
          <Steps task={task.data} journal={journal} over={over && read} chosen={step} onChoose={setStep} />
        </section>
        <Stack gap="xs" component="section" aria-label="Log">
          <Group justify="space-between">
            <Title order={2} size="h4">
              {step === undefined ? "Log" : `Log of ${task.data.spec.steps.find((s) => s.id === step)?.name ?? step}`}
            </Title>
            <WholeLog id={id} over={over} />
          </Group>
          <LogView key={step ?? ""} journal={journal} version={version} step={step} over={over && read} />
        </Stack>
      </div>
    </Page>
  );
}

function Steps({ task, journal, over, chosen, onChoose }: { task: Task; journal: Journal; over: boolean; chosen: string | undefined; onChoose: (step: string | undefined) => void }) {
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
        const state = journal.steps.get(s.id) ?? { status: "" };
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

// Actions are what can be done about a task: stop it, go on with it, do the same again.
function Actions({ task, onChange }: { task: Task; onChange: () => void }) {
  const navigate = useNavigate();
  const mayCancel = useMay("scaffolder.task.cancel");
  const ref = templateOf(task);
  const mayCreate = useMay("scaffolder.task.create", ref || undefined);
  const act = useMutation({ mutationFn: (what: "cancel" | "retry") => ask(`${taskPath(task.id)}/${what}`, { json: {} }), onSuccess: onChange });
  const same = () => {
    saveDraft(draftKey(ref), { etag: "", values: task.spec.parameters as Values });
    void navigate(templatePath(parseRef(ref)));
  };
  return (
    <Stack gap={4} align="flex-end">
      <Group gap="xs">
        {!isOver(task.status) && (
          <Denied may={mayCancel}>
            <Button variant="default" leftSection={<Icon name="stop" size={16} />} onClick={() => act.mutate("cancel")} loading={act.isPending} disabled={!mayCancel.allowed}>
              Cancel
            </Button>
          </Denied>
        )}
        {(task.status === "failed" || task.status === "cancelled") && (
          <Denied may={mayCreate}>
            <Button leftSection={<Icon name="refresh" size={16} />} title="Goes on behind the last step that ended" onClick={() => act.mutate("retry")} loading={act.isPending} disabled={!mayCreate.allowed}>
              Retry
            </Button>
          </Denied>
        )}
        {ref !== "" && isOver(task.status) && (
          <Button variant="default" onClick={same}>
            Again with these values
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

function WholeLog({ id, over }: { id: string; over: boolean }) {
  const get = useMutation({
    mutationFn: async () => {
      const log = await wholeLog(id);
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
      <Button size="xs" variant="default" leftSection={<Icon name="download" size={14} />} onClick={() => get.mutate()} loading={get.isPending} disabled={!over} title={over ? undefined : "When the task is over"}>
        Whole log
      </Button>
    </Group>
  );
}
