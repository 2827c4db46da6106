import type { Form } from "../../api/types";
import { isObject, type Schema, type Values } from "./types";

// Draft is the input of a form and the version of the form.
export type Draft = { etag: string; values: Values; form?: Form };

// largest is the maximum size of a form that is stored with its draft.
const largest = 256 << 10;

// gone marks a field that was cleared, which JSON cannot express: without it the default would return.
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

// draftKey returns the storage key of a draft: one per Template and per resource that prefills it.
export function draftKey(ref: string, query = ""): string {
  return `portal-form:${ref}${query === "" ? "" : `?${query}`}`;
}

// texts caches serialized forms, because a draft is saved while the user types.
const texts = new WeakMap<Form, string>();

// kept returns a form as stored, or an empty string if it is too large or has secret fields, which may have been prefilled.
function kept(form: Form): string {
  let text = texts.get(form);
  if (text === undefined) {
    text = JSON.stringify(form);
    text = text.length > largest || /"(password|Secret)"/.test(text) ? "" : text;
    texts.set(form, text);
  }
  return text;
}

// saveDraft stores a draft in this tab. It reports whether that succeeded: storage may be full or forbidden.
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
    // Without storage there is no draft.
  }
}

// isSecret reports whether a field holds a secret.
export function isSecret(schema: Schema): boolean {
  const widget = schema["ui:widget"] ?? (isObject(schema["ui:options"]) ? schema["ui:options"]["widget"] : undefined);
  return schema["ui:field"] === "Secret" || widget === "password" || schema["format"] === "password";
}

// withoutSecrets removes secret values.
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
