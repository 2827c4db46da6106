import { toYaml } from "../../components/toYaml";
import type { Entity } from "../../api/types";
import { isObject, type Values } from "../form/types";
import { evaluate, Unsupported } from "./expression";

const tag = /\$\{\{((?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|[^"'])*?)\}\}/g;

// filled returns a value with its expressions evaluated. A field that is undefined is left out. An expression that only the
// server can evaluate stays as written.
export function filled(value: unknown, scope: Record<string, unknown>): unknown {
  if (typeof value === "string") {
    return text(value, scope);
  }
  if (Array.isArray(value)) {
    return value.map((v) => filled(v, scope)).filter((v) => v !== undefined);
  }
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .map(([k, v]) => [k, filled(v, scope)] as const)
        .filter(([, v]) => v !== undefined),
    );
  }
  return value;
}

function text(source: string, scope: Record<string, unknown>): unknown {
  if (!source.includes("${{")) {
    return source;
  }
  try {
    const whole = [...source.matchAll(tag)];
    if (whole.length === 1 && whole[0]![0] === source.trim()) {
      return clean(evaluate(whole[0]![1]!, scope));
    }
    return source.replace(tag, (_, inner: string) => asText(evaluate(inner, scope)));
  } catch (err) {
    if (err instanceof Unsupported) {
      return source;
    }
    throw err;
  }
}

// clean removes undefined fields of an evaluated object.
function clean(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).flatMap(([k, v]) => (v === undefined ? [] : [[k, clean(v)]]))) : value;
}

function asText(value: unknown): string {
  if (value === undefined || value === null) {
    return "";
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

type Step = { if?: unknown; each?: unknown; input: { manifest?: unknown; manifests?: unknown } };

function stepsOf(template: Entity | undefined): Step[] {
  const steps = (template?.spec as Record<string, unknown> | undefined)?.["steps"];
  return (Array.isArray(steps) ? steps : []).filter((s): s is Step => isObject(s) && isObject(s["input"]) && (s["input"]["manifest"] ?? s["input"]["manifests"]) !== undefined);
}

// hasManifest reports whether a Template has a step with a manifest.
export function hasManifest(template: Entity | undefined): boolean {
  return stepsOf(template).length > 0;
}

// render returns the manifests of a Template for values of its form, as YAML. It is a preview: the server renders what is
// applied.
export function render(template: Entity, values: Values): string {
  return [...written(template, values).keys()].join("---\n");
}

// manifests returns the different manifests of a Template for values of its form: objects, or texts.
export function manifests(template: Entity, values: Values): unknown[] {
  return [...written(template, values).values()];
}

// written returns the different manifests of a Template by their YAML.
function written(template: Entity, values: Values): Map<string, unknown> {
  const scope = { parameters: values };
  const all = stepsOf(template)
    // A condition that only the server can evaluate counts as true.
    .filter((s) => s.if === undefined || Boolean(filled(s.if, scope)))
    .flatMap((s) => [filled(s.input.manifest ?? s.input.manifests, scope)].flat());
  return new Map(all.map((m) => [typeof m === "string" ? m.trimEnd() + "\n" : toYaml(m), m]));
}
