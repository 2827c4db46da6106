import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link, useNavigate, useSearchParams } from "react-router";
import { ApiError } from "../api/client";
import { annotation, annotations, entityPath } from "../api/entity";
import type { Entity } from "../api/types";
import { useMay } from "../app/may";
import { Denied } from "../parts/Denied";
import { Icon } from "../parts/Icon";
import { Page } from "../parts/Page";
import { Failed, Loading } from "../parts/State";
import { Facts } from "./Facts";
import { NoCluster } from "./NoCluster";
import { PageForm } from "./form/PageForm";
import { outgoing, pageOf, problemsIn } from "./form/pages";
import type { Problem, Values } from "./form/types";
import { fromServer } from "./form/validator";
import { createTask, openForm, type Filling, type Opened } from "./queries";
import { Notes } from "./Notes";
import { Origin } from "./Origin";
import { StepList } from "./StepList";
import { Trial } from "./Trial";
import { UnservedNote, useLock } from "./Unserved";
import { useFilling } from "./useFilling";
import styles from "./Steps.module.css";
import { lookup } from "../parts/lookup";

const formId = "template-form";
const none: Problem[] = [];

// labels say what a Template does, by its purpose.
const labels: Record<string, string> = { update: "Update", delete: "Delete" };

// Filled is a form with what is filled in, its review, and the button that makes a task of it.
export function Filled({ namespace, name, filling, first, template }: { namespace: string; name: string; filling: Filling; first: Opened; template: UseQueryResult<Entity> }) {
  const ref = `template:${namespace}/${name}`;
  const form = useFilling(ref, filling, first);
  const { pages, values, opened } = form;
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const may = useMay("scaffolder.task.create", ref);
  const mayTry = useMay("scaffolder.template.dry-run");
  const asked = Number(params.get("step") ?? 1) - 1;
  const at = Number.isInteger(asked) && asked >= 0 && asked <= pages.length ? asked : 0;
  const [been, setBeen] = useState(at);
  const [problems, setProblems] = useState<Problem[]>(none);
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const heading = useRef<HTMLHeadingElement>(null);
  const sent = useMemo(() => outgoing(pages, values), [pages, values]);
  // A form that is filled from a resource changes it: what was there is worth seeing beside what is to be.
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
  // Whoever goes on by keyboard goes on at the top of the next page.
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

  // show goes to the first page that has a problem.
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
      const now = await openForm(namespace, name, filling);
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
  // Whoever comes here by a link may have passed over something.
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
      {/* The review says it too, with what would stop. */}
      {page && <NoCluster template={template.data} may={may} />}
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
                What you filled in
              </Title>
              <Facts pages={pages} values={sent} before={was} />
            </Stack>
            <Stack gap="md">
              <Title order={2} size="h4">
                What will be done
              </Title>
              {open.length > 0 ? (
                <Stack gap="xs" align="flex-start">
                  <Text>Something is not filled in yet, or does not fit.</Text>
                  <Button variant="default" onClick={() => show(open)}>
                    Show me
                  </Button>
                </Stack>
              ) : lock.length > 0 ? (
                <Text>Nothing can be created in this cluster now.</Text>
              ) : template.data ? (
                <Trial template={template.data} values={sent} may={mayTry} />
              ) : template.isError ? (
                <Failed error={template.error} title="The template cannot be read" retry={() => void template.refetch()} />
              ) : (
                <Loading lines={6} />
              )}
            </Stack>
          </div>
          {error !== undefined && <NotMade error={error} />}
          <Group>
            <Button variant="default" onClick={() => go(pages.length - 1)} disabled={pages.length === 0}>
              Back
            </Button>
            <Denied may={may}>
              <Button onClick={() => void create()} loading={sending} disabled={!may.allowed || lock.length > 0} color={purpose === "delete" ? "red" : undefined} leftSection={<Icon name={purpose === "delete" ? "trash" : "play"} size={16} />}>
                {lookup(labels, purpose) ?? "Create"}
              </Button>
            </Denied>
            {!may.allowed && may.why && (
              <Text size="sm" c="dimmed">
                {may.why}
              </Text>
            )}
          </Group>
        </>
      )}
    </Page>
  );
}

function NotMade({ error }: { error: unknown }) {
  return (
    <Stack gap="xs">
      <Failed error={error} title="Nothing was started" />
      <Text size="sm">What you filled in is kept in this tab: try again when you like.</Text>
    </Stack>
  );
}
