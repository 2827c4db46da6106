import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { withQuery } from "../api/client";
import { allProperties, pagesOf, withDefaults, type Page } from "./form/pages";
import { draftKey, dropDraft, readDraft, saveDraft, withoutSecrets } from "./form/draft";
import { applyFormUpdate, type FormUpdate } from "./form/formUpdate";
import { isObject, type Schema, type Values } from "./form/types";
import type { Prefill, Opened } from "./queries";

type State = { opened: Opened; pages: Page[]; values: Values; restored: boolean; changed?: FormUpdate };

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

function begin(opened: Opened, prefill: Prefill, key: string): State {
  const pages = pagesFor(opened);
  const draft = readDraft(key);
  const start = startOf(opened);
  if (!draft) {
    return { opened, pages, values: withDefaults(pages, { ...given(pages, prefill), ...start }), restored: false };
  }
  if (draft.etag === opened.etag || draft.etag === "") {
    return { opened, pages, values: withDefaults(pages, { ...start, ...draft.values }), restored: true };
  }
  const was = draft.form ? { pages: pagesOf(draft.form), start: (draft.form.values ?? {}) as Values } : { pages, start };
  const { values, update } = applyFormUpdate(was, { pages, start }, draft.values);
  return { opened, pages, values, restored: true, changed: update };
}

// useTemplateForm holds the input of a form. It is stored in this tab until the task is created, so that a reload, an
// expired session or an outage loses nothing.
export function useTemplateForm(ref: string, prefill: Prefill, first: Opened) {
  const { name, namespace, cluster } = prefill;
  const key = draftKey(ref, withQuery("", { name, namespace, cluster }).slice(1));
  const [state, setState] = useState(() => begin(first, prefill, key));
  const [kept, setKept] = useState(true);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const properties = useMemo(() => allProperties(state.pages), [state.pages]);

  const pending = useRef<() => void>(undefined);

  const keep = useCallback(
    (values: Values, of: Opened) => {
      clearTimeout(timer.current);
      pending.current = () => {
        pending.current = undefined;
        const draft = { etag: of.etag, values: withoutSecrets(values, properties) };
        // The form is stored too, to tell later what has changed in it, unless it is very large.
        setKept(saveDraft(key, { ...draft, form: of.form }) || saveDraft(key, draft));
      };
      // Debounce the serialization of large forms.
      timer.current = setTimeout(() => pending.current?.(), 150);
    },
    [key, properties],
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
        return { opened, pages, values, restored: now.restored, changed: update };
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
  }, [forget, prefill, key]);

  return { ...state, kept, setValues, renew, forget, startOver };
}
