import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link, useNavigate, useSearchParams } from "react-router";
import { ApiError } from "../api/client";
import { annotation, annotations, entityPath } from "../api/entity";
import type { Entity } from "../api/types";
import { usePermission } from "../app/permission";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { Icon } from "../components/Icon";
import { Page } from "../components/Page";
import { ErrorAlert, Loading } from "../components/State";
import { InputSummary } from "./InputSummary";
import { NoCluster } from "./NoCluster";
import { PageForm } from "./form/PageForm";
import { outgoing, pageOf, problemsIn } from "./form/pages";
import type { Problem, Values } from "./form/types";
import { fromServer } from "./form/validator";
import { createTask, openForm, type Prefill, type Opened } from "./queries";
import { Notes } from "./Notes";
import { Origin } from "./Origin";
import { StepList } from "./StepList";
import { DryRun } from "./DryRun";
import { UnservedNote, useLock } from "./Unserved";
import { useTemplateForm } from "./useTemplateForm";
import styles from "./Steps.module.css";
import { lookup } from "../components/lookup";

const formId = "template-form";
const none: Problem[] = [];

// labels are the button labels by template purpose.
const labels: Record<string, string> = { update: "Update", delete: "Delete" };

// TemplateForm is the form of a Template with its review page and the button that starts the task.
export function TemplateForm({ namespace, name, prefill, first, template }: { namespace: string; name: string; prefill: Prefill; first: Opened; template: UseQueryResult<Entity> }) {
  const ref = `template:${namespace}/${name}`;
  const form = useTemplateForm(ref, prefill, first);
  const { pages, values, opened } = form;
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const access = usePermission("scaffolder.task.create", ref);
  const canDryRun = usePermission("scaffolder.template.dry-run");
  const focus = opened.form.focus;
  const asked = params.has("step") ? Number(params.get("step")) - 1 : focus ? pageOf(pages, { path: focus }) : 0;
  const at = Number.isInteger(asked) && asked >= 0 && asked <= pages.length ? asked : 0;
  const [been, setBeen] = useState(at);
  const [problems, setProblems] = useState<Problem[]>(none);
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const heading = useRef<HTMLHeadingElement>(null);
  const sent = useMemo(() => outgoing(pages, values), [pages, values]);
  // A form that is prefilled from a resource updates it, so the review shows the previous values.
  const was = useMemo(() => (opened.form.values ? outgoing(pages, opened.form.values as Values) : undefined), [pages, opened]);

  const go = useCallback(
    (step: number) => {
      setBeen((n) => Math.max(n, step));
      setParams((now) => {
        const next = new URLSearchParams(now);
        next.set("step", String(step + 1));
        return next;
      });
    },
    [setParams],
  );
  // Keyboard users continue at the top of the next page.
  const before = useRef(at);
  useEffect(() => {
    if (before.current !== at) {
      before.current = at;
      window.scrollTo(0, 0);
      if (problems.length === 0) {
        heading.current?.focus({ preventScroll: true });
      }
    }
  }, [at, problems]);

  const setSecret = useCallback((key: string, value: string) => setSecrets((now) => ({ ...now, [key]: value })), []);

  // show opens the first page with a problem.
  const show = (found: Problem[]) => {
    setProblems(found);
    if (found.length > 0) {
      go(Math.min(...found.map((p) => pageOf(pages, p))));
    }
  };

  const create = async () => {
    const wrong = problemsIn(pages, values).flat();
    if (wrong.length > 0) {
      show(wrong);
      return;
    }
    setSending(true);
    setError(undefined);
    try {
      const now = await openForm(namespace, name, prefill);
      if (now.etag !== opened.etag) {
        form.renew(now);
        setProblems(none);
        go(0);
        return;
      }
      const used = Object.fromEntries(Object.entries(secrets).filter(([, value]) => value !== ""));
      const { id } = await createTask(ref, sent, used);
      form.forget();
      void navigate(`/tasks/${encodeURIComponent(id)}`);
    } catch (err) {
      const found = err instanceof ApiError && err.status === 400 ? fromServer((err.body as { errors?: unknown } | undefined)?.errors) : none;
      if (found.length > 0) {
        show(found);
      } else {
        setError(err);
      }
    } finally {
      setSending(false);
    }
  };

  const lock = useLock(template.data, values);
  const purpose = template.data ? annotation(template.data, annotations.purpose) : "";
  const page = pages[at];
  // A direct link to the review may skip pages with missing values.
  const open = useMemo(() => (page ? none : problemsIn(pages, values).flat()), [page, pages, values]);
  const titles = [...pages.map((p) => p.title), "Review"];
  const here = useMemo(() => problems.filter((p) => pageOf(pages, p) === at), [problems, pages, at]);
  return (
    <Page
      title={opened.form.title}
      lead={
        <>
          {opened.form.description}
          <div>
            <Origin of={opened.form.origin} />
          </div>
        </>
      }
      actions={
        <>
          <Anchor component={Link} to={entityPath({ kind: "template", namespace, name })} size="sm">
            About this template
          </Anchor>
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              form.startOver();
              setProblems(none);
              setSecrets({});
              go(0);
            }}
          >
            Start over
          </Button>
        </>
      }
    >
      <StepList titles={titles} at={at} been={Math.max(been, at)} onGo={go} />
      {/* The review shows this with the failed dry run. */}
      {page && <NoCluster template={template.data} access={access} />}
      <UnservedNote template={template.data} lock={lock} />
      <Notes restored={form.restored} changed={form.changed} kept={form.kept} />
      {page ? (
        <Stack gap="md" className={styles.form}>
          <div>
            <Title order={2} size="h4" ref={heading} tabIndex={-1}>
              {page.title}
            </Title>
            {page.description && <Text c="dimmed">{page.description}</Text>}
          </div>
          <PageForm
            key={`${opened.etag}-${at}`}
            id={formId}
            page={page.schema}
            values={values}
            secrets={secrets}
            problems={here}
            focus={params.has("step") ? undefined : focus}
            onChange={(next) => {
              form.setValues(next);
              if (problems.length > 0) {
                setProblems(none);
              }
            }}
            onSecret={setSecret}
            onDone={() => go(at + 1)}
          />
          <Group>
            {at > 0 && (
              <Button variant="default" onClick={() => go(at - 1)}>
                Back
              </Button>
            )}
            <Button type="submit" form={formId} rightSection={<Icon name="right" size={16} />}>
              {at === pages.length - 1 ? "Review" : "Next"}
            </Button>
          </Group>
        </Stack>
      ) : (
        <>
          <div className={styles.review}>
            <Stack gap="md">
              <Title order={2} size="h4" ref={heading} tabIndex={-1}>
                Your input
              </Title>
              <InputSummary pages={pages} values={sent} before={was} />
            </Stack>
            <Stack gap="md">
              <Title order={2} size="h4">
                Planned changes
              </Title>
              {open.length > 0 ? (
                <Stack gap="xs" align="flex-start">
                  <Text>Some fields are missing or invalid.</Text>
                  <Button variant="default" onClick={() => show(open)}>
                    Show errors
                  </Button>
                </Stack>
              ) : lock.length > 0 ? (
                <Text>Nothing can be created in this cluster right now.</Text>
              ) : template.data ? (
                <DryRun template={template.data} values={sent} access={canDryRun} />
              ) : template.isError ? (
                <ErrorAlert error={template.error} title="Cannot load the template" retry={() => void template.refetch()} />
              ) : (
                <Loading lines={6} />
              )}
            </Stack>
          </div>
          {error !== undefined && <StartFailed error={error} />}
          <Group>
            <Button variant="default" onClick={() => go(pages.length - 1)} disabled={pages.length === 0}>
              Back
            </Button>
            <PermissionTooltip access={access}>
              <Button onClick={() => void create()} loading={sending} disabled={!access.allowed || lock.length > 0} color={purpose === "delete" ? "red" : undefined} leftSection={<Icon name={purpose === "delete" ? "trash" : "play"} size={16} />}>
                {lookup(labels, purpose) ?? "Create"}
              </Button>
            </PermissionTooltip>
            {!access.allowed && access.reason && (
              <Text size="sm" c="dimmed">
                {access.reason}
              </Text>
            )}
          </Group>
        </>
      )}
    </Page>
  );
}

function StartFailed({ error }: { error: unknown }) {
  return (
    <Stack gap="xs">
      <ErrorAlert error={error} title="The task was not started" />
      <Text size="sm">Your input is kept in this tab. You can try again.</Text>
    </Stack>
  );
}
