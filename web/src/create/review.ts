import type { Entity, Schemas } from "../api/types";
import { isObject } from "./form/types";
import type { Tried } from "./queries";

// Manifest is something that would be applied or proposed, and by which step.
export type Manifest = { step: string; action: string; content: unknown };

// Change is what a file of a repository, or a resource of a cluster, would come to.
export type Change = Schemas["TriedChange"];

// Outcome is what trying out showed, step by step.
export type Outcome = { step: string; name: string; status: string; lines: string[]; changes: Change[]; manifests: Manifest[] };

// announced is how the portal says what a step would do.
const announced = /^Running (\S+) in dry-run mode with inputs \(secrets redacted\): ([\s\S]*)$/;
const changed = /^(?:add|change|remove) (\S.*)$/;

// outcomes reads the log of a trial.
export function outcomes(tried: Tried): Outcome[] {
  const all = tried.steps.map<Outcome>((s) => ({ step: s.id, name: s.name, status: "", lines: [], changes: tried.changes.filter((c) => c.stepId === s.id), manifests: [] }));
  const byId = new Map(all.map((o) => [o.step, o]));
  for (const { body } of tried.log) {
    const outcome = byId.get(body.stepId ?? "");
    if (!outcome) {
      continue;
    }
    if (body.status) {
      outcome.status = body.status;
    }
    const inputs = announced.exec(body.message);
    if (inputs) {
      outcome.manifests.push(...manifestsIn(outcome.step, inputs[1]!, inputs[2]!));
      continue;
    }
    // What is shown need not be said too.
    const named = changed.exec(body.message)?.[1];
    if ((named !== undefined && outcome.changes.some((c) => c.name === named)) || body.message.startsWith("only tried out: ")) {
      continue;
    }
    if (!/^(Beginning|Finished) step /.test(body.message)) {
      outcome.lines.push(body.message);
    }
  }
  return all;
}

function manifestsIn(step: string, action: string, text: string): Manifest[] {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    // A log line is cut where it is too long.
    return [];
  }
  if (!isObject(input)) {
    return [];
  }
  const shown = isObject(input["extra"]) ? input["extra"] : input;
  const given = shown["manifest"] ?? shown["manifests"];
  return (Array.isArray(given) ? given : given === undefined ? [] : [given]).map((content) => ({ step, action, content }));
}

// onlyTold returns a Template that does nothing but tell the manifests of its steps. So the portal itself says what a manifest
// is, also while the cluster or the repository it is for does not answer.
export function onlyTold(template: Entity): Entity {
  const spec = template.spec as Record<string, unknown> | undefined;
  const steps = Array.isArray(spec?.["steps"]) ? spec["steps"] : [];
  const telling = steps.flatMap((step: unknown) => {
    const input = isObject(step) ? step["input"] : undefined;
    if (!isObject(step) || !isObject(input) || input["manifest"] === undefined) {
      return [];
    }
    return [{ ...step, action: "debug:log", input: { extra: { manifest: input["manifest"] } } }];
  });
  return { ...template, spec: { ...spec, steps: telling, output: {} } } as unknown as Entity;
}
