import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { allProperties, pagesOf, withDefaults, type Page } from "./form/pages";
import { draftKey, dropDraft, readDraft, saveDraft, withoutSecrets } from "./form/draft";
import { renewed, type Renewal } from "./form/renewal";
import { isObject, type Schema, type Values } from "./form/types";
import type { Filling, Opened } from "./queries";

type State = { opened: Opened; pages: Page[]; values: Values; restored: boolean; changed?: Renewal };

// given are values that the address gives for a form that is not filled by the portal, such as one to delete something.
function given(pages: Page[], filling: Filling): Values {
  const known = allProperties(pages);
  const out: Values = {};
  for (const [key, value] of Object.entries({ ...filling, deliveryCluster: filling.cluster })) {
    if (value !== undefined && known.has(key)) {
      out[key] = value;
    }
  }
  return out;
}

// pagesFor are the pages of a form. In one that is filled from a resource it cannot be changed which that is.
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

function begin(opened: Opened, filling: Filling, key: string): State {
  const pages = pagesFor(opened);
  const draft = readDraft(key);
  const start = startOf(opened);
  if (!draft) {
    return { opened, pages, values: withDefaults(pages, { ...given(pages, filling), ...start }), restored: false };
  }
  if (draft.etag === opened.etag || draft.etag === "") {
    return { opened, pages, values: withDefaults(pages, { ...start, ...draft.values }), restored: true };
  }
  const was = draft.form ? { pages: pagesOf(draft.form), start: (draft.form.values ?? {}) as Values } : { pages, start };
  const { values, renewal } = renewed(was, { pages, start }, draft.values);
  return { opened, pages, values, restored: true, changed: renewal };
}

// useFilling holds what is filled into a form. It is kept in this tab until the task is made, so that nothing typed is lost
// when the page, the session or the portal goes.
export function useFilling(ref: string, filling: Filling, first: Opened) {
  const key = draftKey(ref, new URLSearchParams(Object.entries(filling).filter((e): e is [string, string] => e[1] !== undefined)).toString());
  const [state, setState] = useState(() => begin(first, filling, key));
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
        // The form itself is kept too, so that one can say later what has changed in it; a very large one is not worth that.
        setKept(saveDraft(key, { ...draft, form: of.form }) || saveDraft(key, draft));
      };
      // A large form is not written with every letter.
      timer.current = setTimeout(() => pending.current?.(), 150);
    },
    [key, properties],
  );
  // Whoever leaves the page right after the last letter finds it again too.
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

  // renew puts another version of the form in place of this one, with all that still fits.
  const renew = useCallback(
    (opened: Opened) => {
      const pages = pagesFor(opened);
      setState((now) => {
        const { values, renewal } = renewed({ pages: now.pages, start: startOf(now.opened) }, { pages, start: startOf(opened) }, now.values);
        keep(values, opened);
        return { opened, pages, values, restored: now.restored, changed: renewal };
      });
    },
    [keep],
  );

  const forget = useCallback(() => {
    clearTimeout(timer.current);
    pending.current = undefined;
    dropDraft(key);
  }, [key]);

  // startOver takes back everything that was typed.
  const startOver = useCallback(() => {
    forget();
    setState((now) => begin(now.opened, filling, key));
  }, [forget, filling, key]);

  return { ...state, kept, setValues, renew, forget, startOver };
}
