import { Anchor, Button, Group, Text } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations } from "../api/entity";
import type { Entity } from "../api/types";
import { Icon } from "../components/Icon";
import { messageOf } from "../components/State";
import { Time } from "../components/Time";
import { useUpdatePath } from "./Actions";
import { isMissing, useResourceStatus } from "./queries";
import { Notice } from "../components/Notice";

// Why says in one sentence why a resource is not ready, or that its cluster cannot be read. If linked, it links to all objects.
export function Why({ entity, linked = false }: { entity: Entity; linked?: boolean }) {
  const { data, error, dataUpdatedAt, problem } = useResourceStatus(entity);
  const update = useUpdatePath(entity);
  if (!problem && isMissing(error)) {
    return null;
  }
  if (error || problem) {
    // A page that has not read anything itself knows from the catalog when the cluster was last read.
    const stale = annotation(entity, annotations.staleSince);
    const lastRead = problem?.lastRead ?? (dataUpdatedAt > 0 ? dataUpdatedAt : stale !== "" ? stale : undefined);
    return (
      <Notice tone="warning" title="The current state is not known">
        <Text size="sm" role="status">
          {`${problem?.message ?? messageOf(error)}. `}
          {lastRead !== undefined ? (
            <>
              Last read <Time at={lastRead} />.
            </>
          ) : (
            "This page shows what was read last."
          )}
        </Text>
      </Notice>
    );
  }
  if (!data?.reason) {
    return null;
  }
  const { sentence, since, path, field } = data.reason;
  // A part that fails is a reason even if the resource itself has not reported it yet.
  const unknown = data.tree.readiness === "unknown" && path.length === 0;
  const title = data.ready && !data.tree.deleted ? "Ready, but a change was not applied" : unknown ? "Readiness is not known yet" : "Not ready";
  return (
    <Notice tone="warning" title={title}>
      <Text size="sm" role="status" style={{ overflowWrap: "anywhere" }}>
        {sentence}
        {since && (
          <>
            {" ("}
            <Time at={since} />)
          </>
        )}
      </Text>
      <Group gap="md" mt={4}>
        {field && update && (
          <Button component={Link} to={update({ field })} size="xs" variant="default" leftSection={<Icon name="edit" size={14} />}>
            {`Change ${field.replace(/^spec\./, "")}`}
          </Button>
        )}
        {linked && (data.tree.children ?? []).length > 0 && (
          <Anchor component={Link} to="?tab=objects" size="sm">
            Show all objects
          </Anchor>
        )}
      </Group>
    </Notice>
  );
}
