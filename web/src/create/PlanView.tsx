import { Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError, fetchJson } from "../api/client";
import type { Schemas } from "../api/types";
import { Diff } from "../components/Diff";
import { Notice } from "../components/Notice";
import { Loading, messageOf } from "../components/State";
import { Tag } from "../components/Tag";
import { toYaml } from "../components/toYaml";
import { Yaml } from "../components/Yaml";
import { texts } from "../text";
import type { Manifest } from "./review";

const words = texts.create.review.plan;

type Plan = Schemas["Plan"];
type PlannedObject = Schemas["PlannedObject"];

// PlanView shows what Crossplane would create, change and delete for a manifest. Without a configured planner there is
// nothing to show; operators read how to turn it on.
export function PlanView({ manifest: { content, merge, cluster } }: { manifest: Manifest }) {
  const status = useQuery({
    queryKey: ["plan-status"],
    queryFn: ({ signal }) => fetchJson<{ on: boolean; hint?: string }>("/api/composer-ingestor/plan", { signal }),
    staleTime: 5 * 60_000,
    retry: false,
  });
  const plan = useQuery({
    queryKey: ["plan", cluster, merge, JSON.stringify(content)],
    queryFn: ({ signal }) => fetchJson<Plan>("/api/composer-ingestor/plan", { json: { cluster, manifest: content, merge }, signal }),
    enabled: status.data?.on === true,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  if (!status.data?.on) {
    return status.data?.hint ? (
      <Text size="sm" c="dimmed">
        {words.off(status.data.hint)}
      </Text>
    ) : null;
  }
  // Plans may have been turned off in the meantime.
  const retry = async () => {
    const { data } = await status.refetch();
    if (data?.on) {
      await plan.refetch();
    }
  };
  return (
    <Stack component="section" gap="sm" aria-label={words.title}>
      <div>
        <Title order={3} size="h4">
          {words.title}
        </Title>
        <Text size="sm" c="dimmed">
          {words.lead}
        </Text>
      </div>
      {plan.isPending || (plan.isError && plan.isFetching) ? (
        <Loading label={words.running} lines={4} />
      ) : plan.isError ? (
        <Notice tone="warning" title={words.failed}>
          <Stack gap="sm" align="flex-start">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {plan.error instanceof ApiError ? plan.error.message : messageOf(plan.error)}
            </Text>
            <Button size="xs" variant="default" loading={status.isFetching} onClick={() => void retry()}>
              {texts.components.retry}
            </Button>
          </Stack>
        </Notice>
      ) : (
        <Planned plan={plan.data} />
      )}
    </Stack>
  );
}

function Planned({ plan }: { plan: Plan }) {
  const { create, change, delete: remove, uncertain, blocked } = plan.counts;
  const warnings = plan.results.filter((r) => r.warning);
  const notes = plan.results.filter((r) => !r.warning);
  return (
    <>
      <Group gap="xs">
        <Text fw={600}>
          {words.counts(create, change, remove)}
          {uncertain > 0 && words.uncertain(uncertain)}
          {blocked > 0 && words.blocked(blocked)}
        </Text>
        <Text size="sm" c="dimmed">
          {words.composition(plan.composition.name)}
        </Text>
      </Group>
      {plan.fatal && (
        <Notice tone="error" title={words.fatal}>
          {plan.fatal}
        </Notice>
      )}
      {warnings.length > 0 && (
        <Notice tone="warning" title={words.warnings}>
          <Lines of={warnings.map(lineOf)} />
        </Notice>
      )}
      {plan.objects.map((o, i) => (
        <ObjectView key={i} object={o} />
      ))}
      {notes.length > 0 && (
        <details>
          <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
            {words.notes}
          </Text>
          <Lines of={notes.map(lineOf)} />
        </details>
      )}
      {plan.unknown.length > 0 && (
        <details>
          <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
            {words.unknown}
          </Text>
          <Lines of={plan.unknown.map((u) => `${u.subject}: ${u.message}`)} />
        </details>
      )}
    </>
  );
}

// lineOf returns a result with the nested composite that it is about.
function lineOf({ within, message }: Plan["results"][number]): string {
  return within ? `${within}: ${message}` : message;
}

function Lines({ of }: { of: string[] }) {
  return (
    <List size="sm">
      {of.map((line, i) => (
        <List.Item key={i} style={{ overflowWrap: "anywhere" }}>
          {line}
        </List.Item>
      ))}
    </List>
  );
}

const tones = { create: "success", change: "progress", delete: "error", unchanged: "plain", uncertain: "warning", blocked: "error" } as const;

// ObjectView is one composed object, with its manifest or its changed fields when it is opened. One that is deleted has
// neither.
function ObjectView({ object }: { object: PlannedObject }) {
  const name = object.name ?? `${object.generateName ?? ""}${words.generated}`;
  const place = object.namespace ? `${object.namespace}/${name}` : name;
  const title = `${object.kind} ${place}`;
  const fields = object.fields ?? [];
  const marginLeft = (object.within?.length ?? 0) * 16;
  const summary = (
    <>
      <Tag tone={tones[object.action]}>{words.actions[object.action]}</Tag> {title}
    </>
  );
  if (fields.length === 0 && !object.manifest) {
    return <div style={{ marginLeft, overflowWrap: "anywhere" }}>{summary}</div>;
  }
  return (
    <details style={{ marginLeft }}>
      <summary style={{ cursor: "pointer", overflowWrap: "anywhere" }}>{summary}</summary>
      {fields.length > 0 ? (
        <Diff before={lines(fields, "old")} after={lines(fields, "new")} label={words.fields(title)} />
      ) : (
        <Yaml text={toYaml(object.manifest)} label={words.manifest(title)} file="manifest.yaml" height={320} />
      )}
    </details>
  );
}

// lines writes one side of changed fields as text, a line each.
function lines(fields: NonNullable<PlannedObject["fields"]>, side: "old" | "new"): string {
  return fields.flatMap((f) => (f[side] === undefined ? [] : [`${f.path}: ${typeof f[side] === "string" ? f[side] : JSON.stringify(f[side])}\n`])).join("");
}
