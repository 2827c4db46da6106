import { useState } from "react";
import { Anchor, Button, Group, Loader, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { fetchJson } from "../../api/client";
import { annotation, annotations, entityPath, formatRef, refOf, titleOf } from "../../api/entity";
import type { EntityPage, EntityPart, Task } from "../../api/types";
import { readinessOf } from "../../api/readiness";
import { conditionsOf, objectOf } from "../../entity/facts";
import { Icon } from "../../components/Icon";
import { ReadinessTag } from "../../components/ReadinessTag";
import { RefLink } from "../../components/RefLink";
import { Tag } from "../../components/Tag";
import { usePermission } from "../../app/permission";
import { texts } from "../../text";
import type { TaskLog } from "./taskLog";

const words = texts.create.task;

// patience is how long to poll the catalog for the created resource and its readiness.
const patience = 10 * 60_000;
// soon is how long that normally takes at most.
const soon = 60_000;

// The annotation prefixes that identify the object of an entity, in both vocabularies.
const prefixes = ["composer.vendor.io", "crossplane.terasky.io"];

// Made is what a task creates: the kinds, and whether to expect an entity, because the object was applied and its
// definition is ingested.
type Made = { kinds: string[]; expected: boolean };

function manifestsOf(task: Task, log: TaskLog): Made {
  const steps = task.spec.steps.filter((s) => typeof kindOf(s.input) === "string");
  return {
    kinds: steps.map((s) => kindOf(s.input) as string),
    expected: annotation((task.spec.templateInfo?.entity ?? {}) as EntityPart, annotations.xrdName) !== "" && steps.some((s) => /^(cluster|kubernetes):apply$/.test(s.action) && log.steps.get(s.id)?.status === "completed"),
  };
}

function kindOf(input: unknown): unknown {
  return (input as { manifest?: { kind?: unknown } } | undefined)?.manifest?.kind;
}

// CreatedResource finds the entity of the resource that a task created, links to it and shows when it is ready.
export function CreatedResource({ task, log }: { task: Task; log: TaskLog }) {
  const [since] = useState(() => Date.now());
  // Do not wait for the resource of an old task: it may have been removed.
  const fresh = since - Date.parse(task.lastHeartbeatAt ?? task.createdAt) < patience;
  const parameters = task.spec.parameters as Record<string, unknown>;
  const name = typeof parameters["name"] === "string" ? parameters["name"] : "";
  const { kinds, expected } = manifestsOf(task, log);
  const there = (items: EntityPart[] | undefined) => items?.find((e) => (objectOf(e)?.namespace ?? "") === (parameters["namespace"] ?? "")) ?? items?.[0];
  const found = useQuery({
    queryKey: ["appeared", task.id],
    queryFn: ({ signal }) =>
      fetchJson<EntityPage>("/api/catalog/entities/by-query", {
        json: {
          limit: 50,
          fields: ["kind", "metadata.name", "metadata.namespace", "metadata.title", "metadata.annotations", "spec.type", "spec.readiness"],
          query: { $any: prefixes.map((p) => ({ [`metadata.annotations.${p}/xr-name`]: { $in: [name] }, [`metadata.annotations.${p}/xr-kind`]: { $in: kinds } })) },
        },
        signal,
      }),
    enabled: name !== "" && kinds.length > 0,
    refetchInterval: (q) => {
      const entity = there(q.state.data?.items);
      return (entity && readinessOf(entity)?.value === "ready") || Date.now() - since > patience ? false : 2_000;
    },
  });
  const entity = there(found.data?.items);
  if (entity) {
    return <ResourceCard entity={entity} />;
  }
  if (!expected || !fresh || name === "") {
    return null;
  }
  return (
    <Group gap="xs" role="status">
      {found.dataUpdatedAt - since < soon ? (
        <>
          <Loader size="xs" />
          <Text>{words.waiting}</Text>
        </>
      ) : (
        <NotThere />
      )}
    </Group>
  );
}

// NotThere says that a resource is not in the catalog after some time. Operators can look for the reason.
function NotThere() {
  const mayIngest = usePermission("catalog.ingestion.read").allowed;
  return mayIngest ? (
    <Text>
      {words.appliedOperator}{" "}
      <Anchor component={Link} to="/ingestion" inherit>
        {texts.app.ingestion}
      </Anchor>
      .
    </Text>
  ) : (
    <Text>{words.applied}</Text>
  );
}

// ResourceCard shows the created resource with its status and a link.
function ResourceCard({ entity }: { entity: EntityPart }) {
  const readiness = readinessOf(entity)?.value ?? "unknown";
  const reason = conditionsOf(entity).find((c) => c.type === "ready")?.reason ?? "";
  const says = { ready: words.isReady, "not ready": words.notReady(reason), unknown: words.noStatus };
  return (
    <Paper withBorder p="md">
      <Group justify="space-between">
        <Stack gap={4} role="status" aria-live="polite">
          <Group gap="xs">
            <Text fw={600} component="span">
              <RefLink to={formatRef(refOf(entity))}>{titleOf(entity)}</RefLink>
            </Text>
            {/* A new resource that is not ready is not an error. */}
            {readiness === "ready" ? <ReadinessTag value="ready" /> : <Tag tone="progress">{words.progress}</Tag>}
          </Group>
          <Text size="sm" c="dimmed">
            {says[readiness]}
          </Text>
        </Stack>
        <Button component={Link} to={entityPath(refOf(entity))} rightSection={<Icon name="right" size={16} />}>
          {words.view}
        </Button>
      </Group>
    </Paper>
  );
}
