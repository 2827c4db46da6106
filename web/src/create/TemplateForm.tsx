import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Anchor, Button } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link, useLocation, useNavigate, useSearchParams } from "react-router";
import { ApiError } from "../api/client";
import { annotation, annotations, entityPath, formatRef } from "../api/entity";
import type { Entity } from "../api/types";
import { usePermission } from "../app/permission";
import { EntityIcon } from "../components/EntityIcon";
import { Page } from "../components/Page";
import { texts } from "../text";
import { Deletes } from "./Deletes";
import { FormStep } from "./FormStep";
import { allProperties, outgoing, pageOf, problemsIn } from "./form/pages";
import type { Problem, Values } from "./form/types";
import { fromServer } from "./form/validator";
import { hasManifest } from "./manifest/render";
import { NoCluster } from "./NoCluster";
import { Notes } from "./Notes";
import { Origin } from "./Origin";
import { createTask, openForm, type Opened, type Prefill } from "./queries";
import { Review } from "./Review";
import { useRules } from "./rules";
import { StepList } from "./StepList";
import { clusterField } from "./target";
import { UnservedNote, useLock } from "./Unserved";
import { useTemplateForm, type Copied } from "./useTemplateForm";

const words = texts.create.template;
const none: Problem[] = [];

// generated are the origins of Templates whose forms are made from definitions.
const generated = new Set(["definition", "generated"]);

// TemplateForm is the form of a Template with its review page and the button that starts the task.
export function TemplateForm({ namespace, name, prefill, first, template }: { namespace: string; name: string; prefill: Prefill; first: Opened; template: UseQueryResult<Entity> }) {
  const ref = `template:${namespace}/${name}`;
  const location = useLocation() as { state: { copied?: Copied } | null };
  const form = useTemplateForm(ref, prefill, first, location.state?.copied);
  const { pages, values, opened } = form;
  const access = usePermission("scaffolder.task.create", ref);
  const canDryRun = usePermission("scaffolder.template.dry-run");
  const [problems, setProblems] = useState<Problem[]>(none);
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const focus = opened.form.focus;
  const { at, been, go, explicit, heading } = useSteps(pages.length, focus ? pageOf(pages, { path: focus }) : 0, problems.length > 0);
  const sent = useMemo(() => outgoing(pages, values), [pages, values]);
  // A form that is prefilled from a resource updates it, so the review shows the previous values.
  const was = useMemo(() => (opened.form.values ? outgoing(pages, opened.form.values as Values) : undefined), [pages, opened]);
  const setSecret = useCallback((key: string, value: string) => setSecrets((now) => ({ ...now, [key]: value })), []);

  // show opens the first page with a problem.
  const show = (found: Problem[]) => {
    setProblems(found);
    if (found.length > 0) {
      go(Math.min(...found.map((p) => pageOf(pages, p))));
    }
  };
  const { sending, error, create } = useCreate({ namespace, name, prefill, form, sent, secrets, onProblems: show, onRenewed: () => go(0) });

  const refusals = useRules({ template: opened.form.origin === "definition" ? template.data : undefined, ref, pages, values, before: was });
  const lock = useLock(template.data, values);
  const purpose = template.data ? annotation(template.data, annotations.purpose) : "";
  const page = pages[at];
  // A direct link to the review may skip pages with missing values.
  const open = useMemo(() => (page ? none : problemsIn(pages, values).flat()), [page, pages, values]);
  const here = useMemo(() => problems.filter((p) => pageOf(pages, p) === at), [problems, pages, at]);
  const clusterAt = useMemo(() => clusterField(template.data, allProperties(pages)), [template.data, pages]);
  const startOver = () => {
    form.startOver();
    setProblems(none);
    setSecrets({});
    go(0, "discard");
  };
  return (
    <Page
      title={opened.form.title}
      icon={<EntityIcon entity={template.data ?? { kind: "Template", metadata: { name, title: opened.form.title } }} size={32} />}
      trail={[{ label: texts.app.create, to: "/create" }]}
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
            {words.about}
          </Anchor>
          <Button size="xs" variant="default" onClick={startOver}>
            {words.startOver}
          </Button>
        </>
      }
    >
      <StepList titles={[...pages.map((p) => p.title), words.review]} at={at} been={been} onGo={go} />
      {/* The review shows this with the failed dry run. */}
      {page && <NoCluster template={template.data} access={access} />}
      <UnservedNote template={template.data} lock={lock} />
      {purpose === "delete" && <Deletes template={template.data} values={values} />}
      <Notes restored={form.restored} copied={form.copied} changed={form.changed} kept={form.kept} onDiscard={startOver} />
      {page ? (
        <FormStep
          key={`${opened.etag}-${at}-${form.turn}`}
          template={formatRef({ kind: "template", namespace, name })}
          clusterField={clusterAt}
          pages={pages}
          at={at}
          values={values}
          secrets={secrets}
          problems={here}
          refusals={refusals}
          focus={explicit ? undefined : focus}
          rules={generated.has(opened.form.origin ?? "")}
          manifest={canDryRun.allowed && hasManifest(template.data) ? template.data : undefined}
          heading={heading}
          onChange={(next) => {
            form.setValues(next);
            if (problems.length > 0) {
              setProblems(none);
            }
          }}
          onSecret={setSecret}
          onGo={go}
        />
      ) : (
        <Review
          pages={pages}
          sent={sent}
          before={was}
          open={open}
          refusals={open.length > 0 ? none : refusals}
          template={template}
          lock={lock}
          purpose={purpose}
          plans={opened.form.origin === "definition"}
          access={access}
          canDryRun={canDryRun}
          sending={sending}
          error={error}
          heading={heading}
          onShow={show}
          onBack={() => go(pages.length - 1)}
          onCreate={() => void create()}
        />
      )}
    </Page>
  );
}

// useSteps holds the current step of a form, which is in the URL. Step pages is the review.
function useSteps(pages: number, first: number, failing: boolean) {
  const [params, setParams] = useSearchParams();
  const explicit = params.has("step");
  const asked = explicit ? Number(params.get("step")) - 1 : first;
  const at = Number.isInteger(asked) && asked >= 0 && asked <= pages ? asked : 0;
  const [been, setBeen] = useState(at);
  const heading = useRef<HTMLHeadingElement>(null);
  const { state } = useLocation() as { state: unknown };
  // go opens a step. Copied values stay with the page unless they are discarded.
  const go = useCallback(
    (step: number, discard?: "discard") => {
      setBeen((n) => Math.max(n, step));
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
          next.set("step", String(step + 1));
          return next;
        },
        { state: discard ? null : state },
      );
    },
    [setParams, state],
  );
  // Keyboard users continue at the top of the next page.
  const before = useRef(at);
  useEffect(() => {
    if (before.current !== at) {
      before.current = at;
      window.scrollTo(0, 0);
      if (!failing) {
        heading.current?.focus({ preventScroll: true });
      }
    }
  }, [at, failing]);
  return { at, been: Math.max(been, at), go, explicit, heading };
}

type Order = {
  namespace: string;
  name: string;
  prefill: Prefill;
  form: ReturnType<typeof useTemplateForm>;
  sent: Values;
  secrets: Record<string, string>;
  onProblems: (problems: Problem[]) => void;
  // onRenewed is called instead of starting a task if the form has changed in the meantime.
  onRenewed: () => void;
};

// useCreate starts the task of a form.
function useCreate({ namespace, name, prefill, form, sent, secrets, onProblems, onRenewed }: Order) {
  const navigate = useNavigate();
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const create = async () => {
    const wrong = problemsIn(form.pages, form.values).flat();
    if (wrong.length > 0) {
      onProblems(wrong);
      return;
    }
    setSending(true);
    setError(undefined);
    try {
      const now = await openForm(namespace, name, prefill);
      if (now.etag !== form.opened.etag) {
        form.renew(now);
        onProblems(none);
        onRenewed();
        return;
      }
      const used = Object.fromEntries(Object.entries(secrets).filter(([, value]) => value !== ""));
      const { id } = await createTask(`template:${namespace}/${name}`, sent, used);
      form.forget();
      void navigate(`/tasks/${encodeURIComponent(id)}`);
    } catch (err) {
      const found = err instanceof ApiError && err.status === 400 ? fromServer((err.body as { errors?: unknown } | undefined)?.errors) : none;
      if (found.length > 0) {
        onProblems(found);
      } else {
        setError(err);
      }
    } finally {
      setSending(false);
    }
  };
  return { sending, error, create };
}
