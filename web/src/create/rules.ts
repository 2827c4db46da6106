import { useMemo } from "react";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { fetchJson } from "../api/client";
import type { Entity, Schemas } from "../api/types";
import { outgoing, problemsIn, type Page } from "./form/pages";
import { isObject, type Path, type Problem, type Values } from "./form/types";
import { manifests } from "./manifest/render";

const none: Problem[] = [];

// pause is how long the input must rest before it is validated.
const pause = 400;

type Validation = Schemas["Validation"];

type Input = {
  // template is the Template of the form; undefined if its values cannot be validated.
  template: Entity | undefined;
  // ref is the reference of the Template.
  ref: string;
  pages: Page[];
  values: Values;
  // before are the values of the resource that is updated.
  before?: Values;
};

// useRules validates the resource of a form while it is filled in, as a cluster would: with the validation rules of its
// definition. It returns what the cluster refuses and the form itself does not check. Empty fields are left to the form.
export function useRules({ template, ref, pages, values, before }: Input): Problem[] {
  const [settled] = useDebouncedValue(values, pause);
  const manifest = useMemo(() => resourceOf(template, outgoing(pages, settled)), [template, pages, settled]);
  const old = useMemo(() => (before ? resourceOf(template, before) : undefined), [template, before]);
  const found = useQuery({
    queryKey: ["rules", ref, manifest, old],
    queryFn: ({ signal }) => fetchJson<Validation>("/api/composer-ingestor/validate", { json: { template: ref, manifest, old }, signal }),
    enabled: manifest !== undefined && (before === undefined || old !== undefined),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    // A validation is advice: the dry run and the cluster decide.
    retry: false,
  });
  const problems = manifest === undefined ? undefined : found.data?.problems;
  return useMemo(() => (problems ? refusals(problems, problemsIn(pages, settled).flat()) : none), [problems, pages, settled]);
}

// resourceOf returns the only resource that a Template makes; undefined if there is another number of resources, or one
// that only the server can render.
function resourceOf(template: Entity | undefined, values: Values): Values | undefined {
  const all = template ? manifests(template, values) : [];
  const one = all[0];
  return all.length === 1 && isObject(one) && !JSON.stringify(one).includes("${{") ? one : undefined;
}

// refusals returns problems that the form does not report itself.
export function refusals(problems: Validation["problems"], own: Problem[]): Problem[] {
  const known = new Set(own.map((p) => JSON.stringify(p.path.map(String))));
  return problems
    .filter((p) => !p.missing && !known.has(JSON.stringify(p.formPath)))
    .map((p) => ({ path: p.formPath.map(step) as Path, keyword: "rule", message: p.formPath.length > 0 || p.field === "" || p.field === "spec" ? p.detail : `${p.field}: ${p.detail}` }));
}

// step returns a step of a path: a key, or the index of a list.
function step(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}
