import { useEffect, useMemo, useRef, useState } from "react";
import type { ErrorSchema } from "@rjsf/utils";
import { Reveal, type FormContext } from "./context";
import { FieldBoundary } from "./FieldBoundary";
import { behaviour } from "./pages";
import { check } from "./problems";
import { ErrorSummary } from "./ErrorSummary";
import { prune } from "./prune";
import { split } from "./split";
import { fields, Themed, words } from "./theme";
import type { Path, Problem, Schema, Values } from "./types";
import { errorsOf, validator } from "./validator";
import { texts } from "../../text";

const none: Problem[] = [];
const off = { norender: true };
const focusable = "input:not([type=hidden]), select, textarea, button";

// focusField scrolls to the input of a path and focuses it.
function focusField(box: HTMLElement | null, asked: Path) {
  for (let path = asked; path.length > 0; path = path.slice(0, -1)) {
    const field = document.getElementById(["root", ...path].join("_"));
    const input = field?.matches(focusable) ? field : field?.querySelector<HTMLElement>(focusable);
    if (field && input && box?.contains(input)) {
      // A section is shown from its top, so that its title is in sight.
      (field === input ? input : field).scrollIntoView({ block: field === input ? "center" : "start" });
      input.focus({ preventScroll: true });
      return;
    }
  }
}

export type PageFormProps = {
  // id lets buttons outside of the form submit it.
  id: string;
  page: Schema;
  values: Values;
  secrets: Record<string, string>;
  // problems are the validation errors from the server.
  problems: Problem[];
  // refusals are what a cluster would refuse. They are shown at their fields, and neither move the focus nor keep the user on
  // the page.
  refusals?: Problem[];
  // focus is the path of the field to begin with.
  focus?: string[];
  onChange: (values: Values) => void;
  onSecret: (name: string, value: string) => void;
  onDone: () => void;
  // reveal asks to show and focus a field; a new object repeats it.
  reveal?: { path: Path };
  // onProblems is called with the validation errors of the page when they change.
  onProblems?: (problems: Problem[]) => void;
  // rules tells that the help of fields is the validation rules of a definition.
  rules?: boolean;
};

// useStart returns the values that the form library starts with; it holds them from then on. Handing each change back to
// it would compute the whole form twice for every key. Values that come from elsewhere start the form again.
function useStart(values: Values, onChange: (values: Values) => void) {
  const last = useRef(values);
  const [from, setFrom] = useState({ start: values, turn: 0 });
  const emit = (next: Values) => {
    last.current = next;
    onChange(next);
  };
  useEffect(() => {
    if (values !== last.current) {
      last.current = values;
      setFrom(({ turn }) => ({ start: values, turn: turn + 1 }));
    }
  }, [values]);
  return { ...from, emit };
}

// PageForm is one page of a form.
export function PageForm({ id, page, values, secrets, problems, refusals = none, focus, onChange, onSecret, onDone, reveal, onProblems, rules = true }: PageFormProps) {
  const { schema, ui, fields: count } = useMemo(() => split(page), [page]);
  const [broken, setBroken] = useState<Record<string, string>>({});
  const [found, setFound] = useState<Problem[]>([]);
  const [tries, setTries] = useState(0);
  const [shownPath, setShownPath] = useState<Path | undefined>(focus);
  const box = useRef<HTMLDivElement>(null);
  const { start, turn, emit } = useStart(values, onChange);

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
  const context = useMemo<FormContext>(() => ({ fields: count, secrets, setSecret: onSecret, setBroken: noteBroken, rules }), [count, secrets, onSecret, noteBroken, rules]);
  const uiSchema = useMemo(() => ({ ...ui, "ui:submitButtonOptions": off }), [ui]);
  const shown = useMemo(() => [...found, ...problems], [found, problems]);
  const marked = useMemo(() => [...shown, ...refusals], [shown, refusals]);
  const extra = useMemo(() => errorsOf(marked) as ErrorSchema, [marked]);

  // Move the focus to the first invalid field.
  useEffect(() => {
    if (tries > 0 || problems.length > 0) {
      box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [tries, problems]);

  // Show the field that was asked for, or the closest one around it. The sections around it are open in this render.
  useEffect(() => {
    if (shownPath) {
      focusField(box.current, shownPath);
      setShownPath(undefined);
    }
  }, [shownPath]);
  useEffect(() => {
    if (reveal) {
      setShownPath([...reveal.path]);
    }
  }, [reveal]);
  useEffect(() => onProblems?.(marked), [onProblems, marked]);

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
      {(tries > 0 || problems.length > 0) && <ErrorSummary page={page} problems={shown} broken={broken} onGo={(path) => setShownPath([...path])} />}
      <FieldBoundary subject={texts.create.form.thisPage} of={page}>
        <Reveal value={shownPath}>
          <Themed
            key={turn}
            id={id}
            schema={schema}
            uiSchema={uiSchema}
            initialFormData={start}
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
              emit(next);
            }}
            onSubmit={(e) => submit((e.formData ?? {}) as Values)}
          />
        </Reveal>
      </FieldBoundary>
    </div>
  );
}
