import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import type { Entity } from "../api/types";
import type { Access } from "../app/permission";
import { Diff } from "../components/Diff";
import { ErrorAlert, Loading, messageOf } from "../components/State";
import { Tag } from "../components/Tag";
import { toYaml } from "../components/toYaml";
import { Yaml } from "../components/Yaml";
import type { Values } from "./form/types";
import { PlanView } from "./PlanView";
import { runDryRun } from "./queries";
import { manifestsOnly, outcomes, type Change, type Manifest, type Outcome } from "./review";
import { Notice } from "../components/Notice";
import { texts } from "../text";

const words = texts.create.review;

// Preview is the result of a dry run: the outcome of each step, or the reason for its failure, and the manifests in both
// cases.
type Preview = { outcomes: Outcome[]; why?: string };

// previewChanges runs the dry run. If it fails because a cluster or repository is unreachable, it still returns the
// manifests.
async function previewChanges(template: Entity, values: Values, signal: AbortSignal): Promise<Preview> {
  try {
    return { outcomes: outcomes(await runDryRun(template, values, signal)) };
  } catch (err) {
    if (!(err instanceof ApiError) || err.status !== 400 || hasErrors(err.body)) {
      throw err;
    }
    const reduced = manifestsOnly(template);
    const steps = (reduced.spec as Record<string, unknown>)["steps"];
    if (!Array.isArray(steps) || steps.length === 0) {
      return { outcomes: [], why: err.message };
    }
    const result = await runDryRun(reduced, values, signal).catch(() => undefined);
    return { outcomes: result ? outcomes(result) : [], why: err.message };
  }
}

function hasErrors(body: unknown): boolean {
  return Array.isArray((body as { errors?: unknown } | null)?.errors);
}

// DryRun shows what a task would do and, with plans, what Crossplane would make of the resource.
export function DryRun({ template, values, access, plans }: { template: Entity; values: Values; access: Access; plans: boolean }) {
  const result = useQuery({
    queryKey: ["dry-run", template.metadata.name, template.metadata.namespace, JSON.stringify(values)],
    queryFn: ({ signal }) => previewChanges(template, values, signal),
    enabled: access.allowed,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (!access.allowed) {
    return access.known ? <Text c="dimmed">{words.noDryRun(access.reason ?? "")}</Text> : <Loading lines={3} />;
  }
  if (result.isPending) {
    return <Loading label={words.running} lines={8} />;
  }
  if (result.isError) {
    return <ErrorAlert error={result.error} title={words.cannotStart} retry={() => void result.refetch()} />;
  }
  const { outcomes: all, why } = result.data;
  const counting = all.filter((o) => o.status !== "skipped");
  const manifests = counting.flatMap((o) => o.manifests);
  const planned = plans ? manifests[0] : undefined;
  return (
    <Stack gap="md">
      {why !== undefined && (
        <Notice tone="warning" title={words.failed}>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {why}
          </Text>
          <Text size="sm" mt={4}>
            {words.failedHint}
          </Text>
        </Notice>
      )}
      {why === undefined && counting.map((o, i) => <Step key={o.step} outcome={o} at={i + 1} />)}
      {why !== undefined && manifests.map((m, i) => <ManifestView key={i} manifest={m} />)}
      {planned !== undefined && <PlanView manifest={planned} />}
      {manifests.length === 0 && counting.length === 0 && why === undefined && <Text c="dimmed">{words.noSteps}</Text>}
    </Stack>
  );
}

// inCluster reports whether a step applies its manifest to a cluster, instead of writing it to a file that is shown.
function inCluster(action: string): boolean {
  return /^(cluster|kubernetes):/.test(action);
}

function Step({ outcome, at }: { outcome: Outcome; at: number }) {
  const passed = outcome.lines.some((l) => l.includes("does not support dry-run"));
  const manifests = outcome.manifests.filter((m) => inCluster(m.action) || outcome.changes.length === 0);
  // For a new object in a cluster, the manifest shows everything.
  const changes = outcome.changes.filter((c) => c.change !== "add" || manifests.length === 0);
  return (
    <Stack component="section" gap="sm" aria-label={words.step(at, outcome.name)}>
      <Group gap="xs">
        <Text fw={600}>{outcome.name}</Text>
        <Tag tone={passed ? "plain" : "success"}>{passed ? words.unsupported : words.passed}</Tag>
      </Group>
      {outcome.lines
        .filter((l) => !l.startsWith("{"))
        .slice(0, 20)
        .map((l, i) => (
          <Text key={i} size="sm" c="dimmed" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
            {l}
          </Text>
        ))}
      {changes.map((c, i) => (
        <ChangeView key={i} change={c} />
      ))}
      {manifests.map((m, i) => (
        <ManifestView key={i} manifest={m} folded={changes.length > 0} />
      ))}
    </Stack>
  );
}

const kinds: Record<Change["change"], string> = words.kinds;
const reasons: Record<NonNullable<Change["hidden"]>, string> = words.hidden;

// ChangeView shows one file or resource before and after the change.
function ChangeView({ change }: { change: Change }) {
  return (
    <section aria-label={words.change(kinds[change.change], change.name)}>
      <Title order={3} size="h5" style={{ overflowWrap: "anywhere" }}>
        {change.name}
      </Title>
      <Text size="sm" c="dimmed" mb={6}>{words.changeIn(kinds[change.change], change.where)}</Text>
      {change.hidden ? <Text size="sm">{reasons[change.hidden]}</Text> : <Diff before={change.before} after={change.after} label={words.diff(change.name)} />}
    </section>
  );
}

// ManifestView shows a manifest. It is folded below the changes, which say what matters.
function ManifestView({ manifest, folded }: { manifest: Manifest; folded?: boolean }) {
  let text: string;
  try {
    text = typeof manifest.content === "string" ? manifest.content : toYaml(manifest.content);
  } catch (err) {
    text = messageOf(err);
  }
  const title = (
    <Title order={3} size="h5">
      {texts.create.manifest.title}
    </Title>
  );
  const yaml = <Yaml text={text} label={texts.create.manifest.preview} file="manifest.yaml" height={420} left={folded ? undefined : title} />;
  if (folded) {
    return (
      <details>
        <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
          {texts.create.manifest.show}
        </Text>
        {yaml}
      </details>
    );
  }
  return <section aria-label={texts.create.manifest.title}>{yaml}</section>;
}
