import { getDefaultFormState } from "@rjsf/utils";
import type { Form } from "../../api/types";
import { check, fits } from "./problems";
import { propertiesOf, prune } from "./prune";
import { split } from "./split";
import { isObject, type Problem, type Schema, type Values } from "./types";
import { validator } from "./validator";

export type Page = { title: string; description?: string; schema: Schema };

export function pagesOf(form: Form): Page[] {
  return form.steps.map((s) => ({ title: s.title, description: s.description, schema: isObject(s.schema) ? s.schema : {} }));
}

// behaviour configures which defaults fill a form: explicit ones only.
export const behaviour = {
  emptyObjectFields: "populateAllDefaults",
  arrayMinItems: { populate: "requiredOnly" },
  // A constant, such as a confirmation, must still be entered by the user.
  constAsDefaults: "never",
  mergeDefaultsIntoFormData: "useFormDataIfPresent",
} as const;

// withDefaults fills in the defaults of the pages where a value is missing. A page with an unusable schema has none; the
// form reports it when shown.
export function withDefaults(pages: Page[], values: Values): Values {
  return pages.reduce<Values>((now, page) => {
    try {
      const { schema } = split(page.schema);
      const next = getDefaultFormState(validator, schema, now, schema, false, behaviour);
      return isObject(next) ? { ...now, ...next } : now;
    } catch {
      return now;
    }
  }, values);
}

// allProperties returns the fields of all pages.
export function allProperties(pages: Page[]): Map<string, Schema> {
  const out = new Map<string, Schema>();
  for (const page of pages) {
    for (const [key, schema] of propertiesOf(page.schema).schemas) {
      if (!out.has(key)) {
        out.set(key, schema);
      }
    }
  }
  return out;
}

// outgoing returns the values as they are sent.
export function outgoing(pages: Page[], values: Values): Values {
  return pages.reduce<Values>((now, page) => prune(now, page.schema) ?? now, values);
}

// problemsIn returns the validation errors of each page.
export function problemsIn(pages: Page[], values: Values): Problem[][] {
  const sent = outgoing(pages, values);
  return pages.map((page) => check({ type: "object", ...page.schema }, sent));
}

// pageOf returns the page of a problem, or the first page.
export function pageOf(pages: Page[], problem: Partial<Problem> & Pick<Problem, "path">): number {
  const at = pages.findIndex((page) => propertiesOf(page.schema).schemas.has(String(problem.path[0])));
  return at < 0 ? 0 : at;
}

// carryOver returns the values that a changed form still accepts, and the names of the others.
export function carryOver(pages: Page[], values: Values): { values: Values; lost: string[] } {
  const known = allProperties(pages);
  const kept: Values = {};
  const lost: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const schema = known.get(key);
    if (value === undefined) {
      kept[key] = value;
    } else if (schema && fits(schema, prune({ v: value }, { properties: { v: schema } })?.["v"] ?? value)) {
      kept[key] = value;
    } else {
      lost.push(key);
    }
  }
  return { values: kept, lost };
}
