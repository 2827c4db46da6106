import type { Form } from "../../api/types";
import { propertiesOf } from "./prune";
import { isObject, type Schema, type Values } from "./types";

// Draft is the input of a form and the version of the form. at is when it was saved.
export type Draft = { at?: number; etag: string; values: Values; form?: Form };

// largest is the maximum size of a form that is stored with its draft.
const largest = 256 << 10;

// mostDrafts is the number of drafts that are kept, for lifetime milliseconds each.
const mostDrafts = 20;
const lifetime = 30 * 86_400_000;

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

const prefix = "portal-draft:";

// draftKey returns the storage key of a draft: one per user, Template and resource that prefills it.
export function draftKey(user: string | undefined, ref: string, query = ""): string {
  return `${prefix}${user ?? ""}:${ref}${query === "" ? "" : `?${query}`}`;
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

// The index has the time of each draft, so that old ones are found without reading all.
const indexKey = "portal-drafts";

function readIndex(): Record<string, number> {
  try {
    const index = JSON.parse(localStorage.getItem(indexKey) ?? "{}") as unknown;
    return isObject(index) ? (Object.fromEntries(Object.entries(index).filter(([key, at]) => key.startsWith(prefix) && typeof at === "number")) as Record<string, number>) : {};
  } catch {
    return {};
  }
}

// store writes an item and the index without drafts that are too old or too many.
function store(key: string, text: string, now: number) {
  localStorage.setItem(key, text);
  const all = Object.entries({ ...readIndex(), [key]: now }).sort(([, a], [, b]) => b - a);
  const [fresh, old] = [all.filter(([, at], i) => i < mostDrafts && at > now - lifetime), all.filter(([, at], i) => i >= mostDrafts || at <= now - lifetime)];
  old.forEach(([other]) => localStorage.removeItem(other));
  localStorage.setItem(indexKey, JSON.stringify(Object.fromEntries(fresh)));
}

// saveDraft stores a draft in this browser. It reports whether that succeeded: storage may be full or forbidden.
export function saveDraft(key: string, draft: Draft): boolean {
  try {
    const at = Date.now();
    const form = draft.form && kept(draft.form);
    store(key, JSON.stringify({ at, etag: draft.etag, values: pack(draft.values), ...(form ? { form } : {}) }), at);
    return true;
  } catch {
    return false;
  }
}

// readDraft returns a draft that is not too old.
export function readDraft(key: string): Draft | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? "null") as unknown;
    if (!isObject(found) || typeof found["etag"] !== "string" || typeof found["at"] !== "number" || !isObject(found["values"])) {
      return undefined;
    }
    if (found["at"] <= Date.now() - lifetime) {
      dropDraft(key);
      return undefined;
    }
    const draft: Draft = { at: found["at"], etag: found["etag"], values: unpack(found["values"]) as Values };
    return typeof found["form"] === "string" ? { ...draft, form: JSON.parse(found["form"]) as Form } : draft;
  } catch {
    return undefined;
  }
}

export function dropDraft(key: string): void {
  try {
    localStorage.removeItem(key);
    const { [key]: _, ...rest } = readIndex();
    localStorage.setItem(indexKey, JSON.stringify(rest));
  } catch {
    // Without storage there is no draft.
  }
}

// isSecret reports whether a field holds a secret.
export function isSecret(schema: Schema): boolean {
  const widget = schema["ui:widget"] ?? (isObject(schema["ui:options"]) ? schema["ui:options"]["widget"] : undefined);
  return schema["ui:field"] === "Secret" || widget === "password" || schema["format"] === "password";
}

// withoutSecrets removes secret values at any depth.
export function withoutSecrets(values: Values, properties: Map<string, Schema>): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const schema = properties.get(key);
      return schema && isSecret(schema) ? [] : [[key, schema ? stripped(value, schema) : value]];
    }),
  );
}

function stripped(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const items = schema["items"];
    return isObject(items) ? value.filter(() => !isSecret(items)).map((v) => stripped(v, items)) : value;
  }
  if (!isObject(value)) {
    return value;
  }
  const known = propertiesOf(schema).schemas;
  const others = schema["additionalProperties"];
  if (isObject(others)) {
    Object.keys(value).forEach((key) => !known.has(key) && known.set(key, others));
  }
  return withoutSecrets(value, known);
}
