import { Alert, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import type { Entity } from "../api/types";
import type { May } from "../app/may";
import { Diff } from "../parts/Diff";
import { Icon } from "../parts/Icon";
import { Failed, Loading, messageOf } from "../parts/State";
import { Tag } from "../parts/Tag";
import { toYaml } from "../parts/toYaml";
import { Yaml } from "../parts/Yaml";
import type { Values } from "./form/types";
import { tryOut } from "./queries";
import { onlyTold, outcomes, type Change, type Manifest, type Outcome } from "./review";

// Shown is what a trial has to say: what would happen, or why it would not, and the manifests in any case.
type Shown = { outcomes: Outcome[]; why?: string };

// look tries the Template out. Where that fails because something does not answer, the manifests can be told all the same.
async function look(template: Entity, values: Values, signal: AbortSignal): Promise<Shown> {
  try {
    return { outcomes: outcomes(await tryOut(template, values, signal)) };
  } catch (err) {
    if (!(err instanceof ApiError) || err.status !== 400 || hasErrors(err.body)) {
      throw err;
    }
    const told = onlyTold(template);
    const steps = (told.spec as Record<string, unknown>)["steps"];
    if (!Array.isArray(steps) || steps.length === 0) {
      return { outcomes: [], why: err.message };
    }
    const tried = await tryOut(told, values, signal).catch(() => undefined);
    return { outcomes: tried ? outcomes(tried) : [], why: err.message };
  }
}

function hasErrors(body: unknown): boolean {
  return Array.isArray((body as { errors?: unknown } | null)?.errors);
}

// Trial shows what a task would do, as far as that can be found out without doing it.
export function Trial({ template, values, may }: { template: Entity; values: Values; may: May }) {
  const trial = useQuery({
    queryKey: ["trial", template.metadata.name, template.metadata.namespace, JSON.stringify(values)],
    queryFn: ({ signal }) => look(template, values, signal),
    enabled: may.allowed,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (!may.allowed) {
    return may.known ? <Text c="dimmed">{`What would be applied cannot be shown. ${may.why ?? ""}`}</Text> : <Loading lines={3} />;
  }
  if (trial.isPending) {
    return <Loading label="Trying it out" lines={8} />;
  }
  if (trial.isError) {
    return <Failed error={trial.error} title="It cannot be tried out" retry={() => void trial.refetch()} />;
  }
  const { outcomes: all, why } = trial.data;
  const counting = all.filter((o) => o.status !== "skipped");
  const manifests = counting.flatMap((o) => o.manifests);
  return (
    <Stack gap="md">
      {why !== undefined && (
        <Alert color="yellow" variant="outline" icon={<Icon name="warning" />} title="Trying it out did not go through">
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {why}
          </Text>
          <Text size="sm" mt={4}>
            You can start it all the same; it would probably stop there.
          </Text>
        </Alert>
      )}
      {why === undefined && counting.map((o, i) => <Step key={o.step} outcome={o} at={i + 1} />)}
      {why !== undefined && manifests.map((m, i) => <ManifestView key={i} manifest={m} />)}
      {manifests.length === 0 && counting.length === 0 && why === undefined && <Text c="dimmed">No step would run with these values.</Text>}
    </Stack>
  );
}

// inCluster says whether a step applies what it has, instead of writing it to a file that is shown.
function inCluster(action: string): boolean {
  return /^(cluster|kubernetes):/.test(action);
}

function Step({ outcome, at }: { outcome: Outcome; at: number }) {
  const passed = outcome.lines.some((l) => l.includes("does not support dry-run"));
  const manifests = outcome.manifests.filter((m) => inCluster(m.action) || outcome.changes.length === 0);
  // Of what is new in a cluster the manifest says it all.
  const changes = outcome.changes.filter((c) => c.change !== "add" || manifests.length === 0);
  return (
    <Stack component="section" gap="sm" aria-label={`Step ${at}: ${outcome.name}`}>
      <Group gap="xs">
        <Text fw={600}>{outcome.name}</Text>
        <Tag tone={passed ? "plain" : "good"}>{passed ? "not tried out" : "would work"}</Tag>
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
        <ManifestView key={i} manifest={m} />
      ))}
    </Stack>
  );
}

const kinds: Record<Change["change"], string> = { add: "New", change: "Changed", remove: "Removed" };
const reasons: Record<NonNullable<Change["hidden"]>, string> = {
  binary: "It is no text, and is not shown.",
  secret: "It holds a Secret, and is not shown.",
  large: "It is too long to be shown here.",
  foreign: "Somebody else has made it, so it is not shown.",
};

// ChangeView is one file or resource: as it is, and as it would be.
function ChangeView({ change }: { change: Change }) {
  return (
    <section aria-label={`${kinds[change.change]}: ${change.name}`}>
      <Title order={3} size="h5" style={{ overflowWrap: "anywhere" }}>
        {change.name}
      </Title>
      <Text size="sm" c="dimmed" mb={6}>{`${kinds[change.change]}, ${change.where}`}</Text>
      {change.hidden ? <Text size="sm">{reasons[change.hidden]}</Text> : <Diff before={change.before} after={change.after} label={`How ${change.name} would differ`} />}
    </section>
  );
}

function ManifestView({ manifest }: { manifest: Manifest }) {
  let text: string;
  try {
    text = typeof manifest.content === "string" ? manifest.content : toYaml(manifest.content);
  } catch (err) {
    text = messageOf(err);
  }
  return (
    <section aria-label="Manifest">
      <Title order={3} size="h5">
        Manifest
      </Title>
      <Yaml text={text} label="The manifest as it would be applied" file="manifest.yaml" height={420} />
    </section>
  );
}
