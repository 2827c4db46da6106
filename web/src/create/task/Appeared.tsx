import { useState } from "react";
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/client";
import { formatRef, refOf, titleOf } from "../../api/entity";
import type { EntityPage, Task } from "../../api/types";
import { RefLink } from "../../parts/Ref";

// patience is how long the catalog is asked for what a task has made.
const patience = 3 * 60_000;

// The annotations of an entity that say which object it is, in both spellings.
const prefixes = ["composer.vendor.io", "crossplane.terasky.io"];

// kindsOf are the kinds of the objects that the steps of a task make.
function kindsOf(task: Task): string[] {
  return task.spec.steps.flatMap((s) => {
    const manifest = (s.input as { manifest?: { kind?: unknown } } | undefined)?.manifest;
    return typeof manifest?.kind === "string" ? [manifest.kind] : [];
  });
}

// Appeared looks for the entity of what a task has made, and links to it as soon as the catalog has it.
export function Appeared({ task }: { task: Task }) {
  const [since] = useState(() => Date.now());
  const parameters = task.spec.parameters as Record<string, unknown>;
  const name = typeof parameters["name"] === "string" ? parameters["name"] : "";
  const kinds = kindsOf(task);
  const found = useQuery({
    queryKey: ["appeared", task.id],
    queryFn: ({ signal }) =>
      ask<EntityPage>("/api/catalog/entities/by-query", {
        json: {
          limit: 1,
          fields: ["kind", "metadata.name", "metadata.namespace", "metadata.title"],
          query: { $any: prefixes.map((p) => ({ [`metadata.annotations.${p}/xr-name`]: { $in: [name] }, [`metadata.annotations.${p}/xr-kind`]: { $in: kinds } })) },
        },
        signal,
      }),
    enabled: name !== "" && kinds.length > 0,
    refetchInterval: (q) => (q.state.data?.items?.length || Date.now() - since > patience ? false : 3_000),
  });
  const entity = found.data?.items?.[0];
  if (!entity) {
    return null;
  }
  return (
    <Group gap="xs" role="status">
      <Text>In the catalog:</Text>
      <RefLink to={formatRef(refOf(entity))}>{titleOf(entity)}</RefLink>
    </Group>
  );
}
