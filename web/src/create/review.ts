import type { Entity, Schemas } from "../api/types";
import { isObject } from "./form/types";
import type { DryRunResult } from "./queries";

// Manifest is a manifest that a step would apply or propose. With merge, it has only the fields that change. Without a
// cluster, the step uses the default one.
export type Manifest = { step: string; action: string; content: unknown; merge: boolean; cluster?: string };

// Change is a changed file in a repository or resource in a cluster.
export type Change = Schemas["TriedChange"];

// Outcome is the result of a step in the dry run.
export type Outcome = { step: string; name: string; status: string; lines: string[]; changes: Change[]; manifests: Manifest[] };

// inputsLine matches the log line with the inputs of a step.
const inputsLine = /^Running (\S+) in dry-run mode with inputs \(secrets redacted\): ([\s\S]*)$/;
const changeLine = /^(?:add|change|remove) (\S.*)$/;

// outcomes collects the results of a dry run by step.
export function outcomes(result: DryRunResult): Outcome[] {
  const all = result.steps.map<Outcome>((s) => ({ step: s.id, name: s.name, status: "", lines: [], changes: result.changes.filter((c) => c.stepId === s.id), manifests: [] }));
  const byId = new Map(all.map((o) => [o.step, o]));
  for (const { body } of result.log) {
    const outcome = byId.get(body.stepId ?? "");
    if (!outcome) {
      continue;
    }
    if (body.status) {
      outcome.status = body.status;
    }
    const inputs = inputsLine.exec(body.message);
    if (inputs) {
      outcome.manifests.push(...manifestsIn(outcome.step, inputs[1]!, inputs[2]!));
      continue;
    }
    // Changes that are shown need no log line.
    const named = changeLine.exec(body.message)?.[1];
    if ((named !== undefined && outcome.changes.some((c) => c.name === named)) || body.message.startsWith("dry run: ")) {
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
    // Long log lines are truncated.
    return [];
  }
  if (!isObject(input)) {
    return [];
  }
  const shown = isObject(input["extra"]) ? input["extra"] : input;
  const given = shown["manifest"] ?? shown["manifests"];
  const merge = shown["merge"] === true || (shown["update"] === true && !shown["observed"]);
  const cluster = typeof shown["cluster"] === "string" && shown["cluster"] !== "" ? shown["cluster"] : undefined;
  return (Array.isArray(given) ? given : given === undefined ? [] : [given]).map((content) => ({ step, action, content, merge, cluster }));
}

// manifestsOnly returns a Template whose steps only log their manifests. It lets the server render the manifests even while
// the cluster or repository is unreachable.
export function manifestsOnly(template: Entity): Entity {
  const spec = template.spec as Record<string, unknown> | undefined;
  const steps = Array.isArray(spec?.["steps"]) ? spec["steps"] : [];
  const logSteps = steps.flatMap((step: unknown) => {
    const input = isObject(step) ? step["input"] : undefined;
    if (!isObject(step) || !isObject(input) || input["manifest"] === undefined) {
      return [];
    }
    return [{ ...step, action: "debug:log", input: { extra: { manifest: input["manifest"], cluster: input["cluster"] } } }];
  });
  return { ...template, spec: { ...spec, steps: logSteps, output: {} } } as unknown as Entity;
}
