import { useEffect, useMemo, useRef, useState } from "react";
import { Text } from "@mantine/core";
import type { ErrorSchema } from "@rjsf/utils";
import type { FormContext } from "./context";
import { FieldBoundary } from "./FieldBoundary";
import { behaviour } from "./pages";
import { check } from "./problems";
import { propertiesOf, prune } from "./prune";
import { split } from "./split";
import { fields, Themed, words } from "./theme";
import type { Problem, Schema, Values } from "./types";
import { errorsOf, validator } from "./validator";
import { Notice } from "../../components/Notice";
import styles from "./Form.module.css";

const off = { norender: true };
const focusable = "input:not([type=hidden]), select, textarea, button";

export type PageFormProps = {
  // id lets buttons outside of the form submit it.
  id: string;
  page: Schema;
  values: Values;
  secrets: Record<string, string>;
  // problems are the validation errors from the server.
  problems: Problem[];
  // focus is the path of the field to begin with.
  focus?: string[];
  onChange: (values: Values) => void;
  onSecret: (name: string, value: string) => void;
  onDone: () => void;
};

// PageForm is one page of a form.
export function PageForm({ id, page, values, secrets, problems, focus, onChange, onSecret, onDone }: PageFormProps) {
  const { schema, ui, fields: count } = useMemo(() => split(page), [page]);
  const [broken, setBroken] = useState<Record<string, string>>({});
  const [found, setFound] = useState<Problem[]>([]);
  const [tries, setTries] = useState(0);
  const box = useRef<HTMLDivElement>(null);

  const noteBroken = useMemo(
    () => (field: string, why: string | undefined) =>
      setBroken((now) => {
        if (now[field] === why) {
          return now;
        }
        const next = { ...now };
        if (why === undefined) {
          delete next[field];
        } else {
          next[field] = why;
        }
        return next;
      }),
    [],
  );
  const context = useMemo<FormContext>(() => ({ fields: count, secrets, setSecret: onSecret, setBroken: noteBroken }), [count, secrets, onSecret, noteBroken]);
  const uiSchema = useMemo(() => ({ ...ui, "ui:submitButtonOptions": off }), [ui]);
  const shown = useMemo(() => [...found, ...problems], [found, problems]);
  const extra = useMemo(() => errorsOf(shown) as ErrorSchema, [shown]);

  // Move the focus to the first invalid field.
  useEffect(() => {
    if (tries > 0 || problems.length > 0) {
      box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [tries, problems]);

  // Begin with the field that was asked for, or with the closest one around it.
  const begin = useRef(focus);
  useEffect(() => {
    for (let path = begin.current ?? []; path.length > 0; path = path.slice(0, -1)) {
      const field = document.getElementById(["root", ...path].join("_"));
      const input = field?.matches(focusable) ? field : field?.querySelector<HTMLElement>(focusable);
      if (input && box.current?.contains(input)) {
        begin.current = undefined;
        input.scrollIntoView({ block: "center" });
        input.focus({ preventScroll: true });
        return;
      }
    }
  }, []);

  const submit = (now: Values) => {
    const wrong = check(schema, prune(now, schema) ?? {});
    setFound(wrong);
    if (wrong.length === 0 && Object.keys(broken).length === 0) {
      onDone();
      return;
    }
    setTries((n) => n + 1);
  };

  return (
    <div ref={box}>
      <Summary page={page} problems={shown} broken={broken} visible={tries > 0 || problems.length > 0} />
      <FieldBoundary subject="this form page" of={page}>
        <Themed
          id={id}
          schema={schema}
          uiSchema={uiSchema}
          formData={values}
          formContext={context}
          validator={validator}
          fields={fields}
          translateString={words}
          // Validation runs on submit, on the values to be sent, and again after each fix.
          noValidate
          noHtml5Validate
          showErrorList={false}
          extraErrors={extra}
          experimental_defaultFormStateBehavior={behaviour}
          onChange={(e) => {
            const next = (e.formData ?? {}) as Values;
            if (found.length > 0) {
              setFound(check(schema, prune(next, schema) ?? {}));
            }
            onChange(next);
          }}
          onSubmit={(e) => submit((e.formData ?? {}) as Values)}
        />
      </FieldBoundary>
    </div>
  );
}

// Summary lists the validation errors, also for screen readers.
function Summary({ page, problems, broken, visible }: { page: Schema; problems: Problem[]; broken: Record<string, string>; visible: boolean }) {
  const titles = useMemo(() => propertiesOf(page).schemas, [page]);
  // Text that cannot be parsed is also not an object: show the parse error.
  const all = problems.map((p) => `${titleAt(titles, p)}: ${broken[["root", ...p.path].join("_")] ?? p.message}`).concat(problems.length === 0 ? Object.values(broken) : []);
  if (!visible || all.length === 0) {
    return null;
  }
  return (
    <Notice tone="error" title={all.length === 1 ? "One field is invalid" : `${all.length} fields are invalid`} role="alert" mb="md">
      {all.slice(0, 8).map((text, i) => (
        <Text key={i} size="sm" className={styles.lines}>
          {text}
        </Text>
      ))}
      {all.length > 8 && <Text size="sm">{`and ${all.length - 8} more`}</Text>}
    </Notice>
  );
}

function titleAt(titles: Map<string, Schema>, p: Problem): string {
  const [first, ...rest] = p.path;
  const title = titles.get(String(first))?.["title"];
  const inside = rest.map((step) => (/^\d+$/.test(String(step)) ? `entry ${Number(step) + 1}` : String(step)));
  return [typeof title === "string" ? title : String(first ?? "The form"), ...inside].join(", ");
}
