import type { Form } from "../../api/types";
import { isObject, type Schema, type Values } from "./types";

// Draft is what somebody typed into a form, and of which form.
export type Draft = { etag: string; values: Values; form?: Form };

// largest is how much of a form is kept beside what was typed into it.
const largest = 256 << 10;

// gone stands for a field that somebody emptied, which JSON cannot say: without it the default would come back.
const gone = "\u0000gone";

function pack(value: unknown): unknown {
  if (value === undefined) {
    return gone;
  }
  if (Array.isArray(value)) {
    return value.map(pack);
  }
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, pack(v)])) : value;
}

function unpack(value: unknown): unknown {
  if (value === gone) {
    return undefined;
  }
  if (Array.isArray(value)) {
    return value.map(unpack);
  }
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, unpack(v)])) : value;
}

// draftKey is where the draft of a form is kept: one for each Template, and for each resource it is filled from.
export function draftKey(ref: string, query = ""): string {
  return `portal-form:${ref}${query === "" ? "" : `?${query}`}`;
}

// texts are forms as they are kept; a form is written with every letter that is typed into it.
const texts = new WeakMap<Form, string>();

// kept is a form as it is kept, empty if it is not: one that asks for secrets may have been filled with some.
function kept(form: Form): string {
  let text = texts.get(form);
  if (text === undefined) {
    text = JSON.stringify(form);
    text = text.length > largest || /"(password|Secret)"/.test(text) ? "" : text;
    texts.set(form, text);
  }
  return text;
}

// saveDraft keeps what was typed in this tab. It says whether that worked: storage may be full, or forbidden.
export function saveDraft(key: string, draft: Draft): boolean {
  try {
    const form = draft.form && kept(draft.form);
    const written = { etag: draft.etag, values: pack(draft.values), ...(form ? { form } : {}) };
    sessionStorage.setItem(key, JSON.stringify(written));
    return true;
  } catch {
    return false;
  }
}

export function readDraft(key: string): Draft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as unknown;
    if (!isObject(kept) || typeof kept["etag"] !== "string" || !isObject(kept["values"])) {
      return undefined;
    }
    const draft: Draft = { etag: kept["etag"], values: unpack(kept["values"]) as Values };
    return typeof kept["form"] === "string" ? { ...draft, form: JSON.parse(kept["form"]) as Form } : draft;
  } catch {
    return undefined;
  }
}

export function dropDraft(key: string): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Then there was nothing.
  }
}

// isSecret says whether what is filled into a field is nobody's business.
export function isSecret(schema: Schema): boolean {
  const widget = schema["ui:widget"] ?? (isObject(schema["ui:options"]) ? schema["ui:options"]["widget"] : undefined);
  return schema["ui:field"] === "Secret" || widget === "password" || schema["format"] === "password";
}

// withoutSecrets leaves out what must not be kept.
export function withoutSecrets(values: Values, properties: Map<string, Schema>): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const schema = properties.get(key);
      if (schema && isSecret(schema)) {
        return [];
      }
      const inner = schema && isObject(schema["properties"]) ? new Map(Object.entries(schema["properties"]).filter((e): e is [string, Schema] => isObject(e[1]))) : undefined;
      return [[key, inner && isObject(value) ? withoutSecrets(value, inner) : value]];
    }),
  );
}
