import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { withQuery } from "../api/client";
import { useSession } from "../app/session";
import { allProperties, outgoing, pagesOf, withDefaults, type Page } from "./form/pages";
import { draftKey, dropDraft, readDraft, saveDraft, withoutSecrets } from "./form/draft";
import { applyFormUpdate, type FormUpdate } from "./form/formUpdate";
import { isObject, type Schema, type Values } from "./form/types";
import type { Prefill, Opened } from "./queries";

// State is a form and its input. restored is when the draft was saved that the input comes from.
type State = { opened: Opened; pages: Page[]; values: Values; restored?: number; copied: boolean; changed?: FormUpdate };

// Copied are the values of an earlier task, and when they were copied.
export type Copied = { values: Values; at: number };

// given returns values from the URL for a form that the server does not prefill, such as a delete form.
function given(pages: Page[], { name, namespace, cluster }: Prefill): Values {
  const known = allProperties(pages);
  const out: Values = {};
  for (const [key, value] of Object.entries({ name, namespace, cluster, deliveryCluster: cluster })) {
    if (value !== undefined && known.has(key)) {
      out[key] = value;
    }
  }
  return out;
}

// pagesFor returns the pages of a form. In a prefilled form, the identity of the resource is read-only.
function pagesFor(opened: Opened): Page[] {
  const pages = pagesOf(opened.form);
  return opened.form.values ? pages.map((page) => ({ ...page, schema: locked(page.schema) })) : pages;
}

const naming = ["name", "namespace", "deliveryCluster"];

function locked(schema: Schema): Schema {
  const properties = schema["properties"];
  if (!isObject(properties)) {
    return schema;
  }
  const fixed = naming.flatMap((key) => (isObject(properties[key]) ? [[key, { ...properties[key], "ui:readonly": true }]] : []));
  return { ...schema, properties: { ...properties, ...(Object.fromEntries(fixed) as Schema) } };
}

const startOf = (opened: Opened) => (opened.form.values ?? {}) as Values;

// initialValues returns the values of a form without any input.
function initialValues(opened: Opened, pages: Page[], prefill: Prefill): Values {
  // A prefilled form has its cluster. Its field cluster, if it has one, is of the definition.
  return withDefaults(pages, opened.form.values ? { ...startOf(opened) } : given(pages, prefill));
}

function begin(opened: Opened, prefill: Prefill, key: string, copied?: Copied): State {
  const pages = pagesFor(opened);
  const draft = readDraft(key);
  // A draft that is newer than the copied values was made from them.
  if (copied && !(draft?.at !== undefined && draft.at > copied.at)) {
    return { opened, pages, values: withDefaults(pages, { ...copied.values }), copied: true };
  }
  const start = startOf(opened);
  if (!draft) {
    return { opened, pages, values: initialValues(opened, pages, prefill), copied: false };
  }
  if (draft.etag === opened.etag) {
    return { opened, pages, values: withDefaults(pages, { ...start, ...draft.values }), restored: draft.at, copied: false };
  }
  const was = draft.form ? { pages: pagesOf(draft.form), start: (draft.form.values ?? {}) as Values } : { pages, start };
  const { values, update } = applyFormUpdate(was, { pages, start }, draft.values);
  return { opened, pages, values, restored: draft.at, copied: false, changed: update };
}

// useTemplateForm holds the input of a form. It is stored in this browser until the task is created, so that a reload, an
// expired session or an outage loses nothing.
export function useTemplateForm(ref: string, prefill: Prefill, first: Opened, copied?: Copied) {
  const { name, namespace, cluster } = prefill;
  const { userRef } = useSession();
  // The user stays the same while a form is open, also when the session is over.
  const [user] = useState(userRef);
  const key = draftKey(user, ref, withQuery("", { name, namespace, cluster }).slice(1));
  const [state, setState] = useState(() => begin(first, prefill, key, copied));
  const [kept, setKept] = useState(true);
  // turn counts how often the input was discarded: the fields start again.
  const [turn, setTurn] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const properties = useMemo(() => allProperties(state.pages), [state.pages]);

  const pending = useRef<() => void>(undefined);
  // Values without any input are no draft.
  const untouched = useMemo(() => JSON.stringify(outgoing(state.pages, initialValues(state.opened, state.pages, { name, namespace, cluster }))), [state.pages, state.opened, name, namespace, cluster]);

  const keep = useCallback(
    (values: Values, of: Opened) => {
      clearTimeout(timer.current);
      pending.current = () => {
        pending.current = undefined;
        if (JSON.stringify(outgoing(state.pages, values)) === untouched) {
          dropDraft(key);
          return;
        }
        const draft = { etag: of.etag, values: withoutSecrets(values, properties) };
        // The form is stored too, to tell later what has changed in it, unless it is very large.
        setKept(saveDraft(key, { ...draft, form: of.form }) || saveDraft(key, draft));
      };
      // Debounce the serialization of large forms.
      timer.current = setTimeout(() => pending.current?.(), 150);
    },
    [key, properties, state.pages, untouched],
  );
  // Save pending input when the user leaves the page.
  useEffect(() => {
    const flush = () => {
      clearTimeout(timer.current);
      pending.current?.();
    };
    window.addEventListener("pagehide", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      flush();
    };
  }, []);

  const setValues = useCallback(
    (values: Values) => {
      setState((now) => ({ ...now, values }));
      keep(values, state.opened);
    },
    [keep, state.opened],
  );

  // renew replaces the form with a new version and keeps all values that are still valid.
  const renew = useCallback(
    (opened: Opened) => {
      const pages = pagesFor(opened);
      setState((now) => {
        const { values, update } = applyFormUpdate({ pages: now.pages, start: startOf(now.opened) }, { pages, start: startOf(opened) }, now.values);
        keep(values, opened);
        return { opened, pages, values, restored: now.restored, copied: now.copied, changed: update };
      });
    },
    [keep],
  );

  const forget = useCallback(() => {
    clearTimeout(timer.current);
    pending.current = undefined;
    dropDraft(key);
  }, [key]);

  // startOver discards all input.
  const startOver = useCallback(() => {
    forget();
    setState((now) => begin(now.opened, prefill, key));
    setTurn((n) => n + 1);
  }, [forget, prefill, key]);

  return { ...state, kept, turn, setValues, renew, forget, startOver };
}
