import { useState } from "react";
import { Anchor, Button, Group, Loader, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { ask } from "../../api/client";
import { annotation, annotations, entityPath, formatRef, refOf, titleOf } from "../../api/entity";
import type { EntityPage, EntityPart, Task } from "../../api/types";
import { conditionsOf, readinessOf, thingOf, tones } from "../../entity/facts";
import { Icon } from "../../parts/Icon";
import { RefLink } from "../../parts/Ref";
import { Tag } from "../../parts/Tag";
import type { Journal } from "./journal";

// patience is how long the catalog is asked for what a task has made, and whether it is ready.
const patience = 10 * 60_000;
// soon is how long it takes at most where all is well.
const soon = 60_000;

// The annotations of an entity that say which object it is, in both spellings.
const prefixes = ["composer.vendor.io", "crossplane.terasky.io"];

// Made is what the steps of a task make: of which kinds, and whether the catalog must have it soon, because it was applied and
// the portal reads what is made of its definition.
type Made = { kinds: string[]; expected: boolean };

function madeBy(task: Task, journal: Journal): Made {
  const steps = task.spec.steps.filter((s) => typeof kindOf(s.input) === "string");
  return {
    kinds: steps.map((s) => kindOf(s.input) as string),
    expected: annotation((task.spec.templateInfo?.entity ?? {}) as EntityPart, annotations.xrdName) !== "" && steps.some((s) => /^(cluster|kubernetes):apply$/.test(s.action) && journal.steps.get(s.id)?.status === "completed"),
  };
}

function kindOf(input: unknown): unknown {
  return (input as { manifest?: { kind?: unknown } } | undefined)?.manifest?.kind;
}

// Appeared looks for the entity of what a task has made, links to it as soon as the catalog has it, and says when it is ready.
export function Appeared({ task, journal }: { task: Task; journal: Journal }) {
  const [since] = useState(() => Date.now());
  // What was made long ago may be gone again, which is nothing to wait for.
  const fresh = since - Date.parse(task.lastHeartbeatAt ?? task.createdAt) < patience;
  const parameters = task.spec.parameters as Record<string, unknown>;
  const name = typeof parameters["name"] === "string" ? parameters["name"] : "";
  const { kinds, expected } = madeBy(task, journal);
  const there = (items: EntityPart[] | undefined) => items?.find((e) => (thingOf(e)?.namespace ?? "") === (parameters["namespace"] ?? "")) ?? items?.[0];
  const found = useQuery({
    queryKey: ["appeared", task.id],
    queryFn: ({ signal }) =>
      ask<EntityPage>("/api/catalog/entities/by-query", {
        json: {
          limit: 50,
          fields: ["kind", "metadata.name", "metadata.namespace", "metadata.title", "metadata.annotations", "spec.type"],
          query: { $any: prefixes.map((p) => ({ [`metadata.annotations.${p}/xr-name`]: { $in: [name] }, [`metadata.annotations.${p}/xr-kind`]: { $in: kinds } })) },
        },
        signal,
      }),
    enabled: name !== "" && kinds.length > 0,
    refetchInterval: (q) => {
      const entity = there(q.state.data?.items);
      return (entity && readinessOf(entity) === "ready") || Date.now() - since > patience ? false : 2_000;
    },
  });
  const entity = there(found.data?.items);
  if (entity) {
    return <There entity={entity} />;
  }
  if (!expected || !fresh || name === "") {
    return null;
  }
  return (
    <Group gap="xs" role="status">
      {found.dataUpdatedAt - since < soon ? (
        <>
          <Loader size="xs" />
          <Text>It is on its way into the catalog.</Text>
        </>
      ) : (
        <Text>
          It was applied, and is not in the catalog yet. What the portal reads, and when, is under{" "}
          <Anchor component={Link} to="/ingestion" inherit>
            Ingestion
          </Anchor>
          .
        </Text>
      )}
    </Group>
  );
}

// There is what was made, how it is, and the way to it.
function There({ entity }: { entity: EntityPart }) {
  const readiness = readinessOf(entity) ?? "unknown";
  const reason = conditionsOf(entity).find((c) => c.type === "ready")?.reason ?? "";
  const says = { ready: "It is ready to use.", "not ready": `The cluster says: ${reason || "not ready yet"}. This page looks again every few seconds.`, unknown: "The cluster says nothing about it yet. This page looks again every few seconds." };
  return (
    <Paper withBorder p="md">
      <Group justify="space-between">
        <Stack gap={4} role="status" aria-live="polite">
          <Group gap="xs">
            <Text fw={600} component="span">
              <RefLink to={formatRef(refOf(entity))}>{titleOf(entity)}</RefLink>
            </Text>
            {/* What was made a moment ago and is not ready is no cause for alarm. */}
            <Tag tone={readiness === "ready" ? tones.ready : "busy"}>{readiness === "ready" ? "ready" : "coming up"}</Tag>
          </Group>
          <Text size="sm" c="dimmed">
            {says[readiness]}
          </Text>
        </Stack>
        <Button component={Link} to={entityPath(refOf(entity))} rightSection={<Icon name="right" size={16} />}>
          See it in the catalog
        </Button>
      </Group>
    </Paper>
  );
}
