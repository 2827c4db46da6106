import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Entity } from "../api/types";
import { messageOf } from "../components/State";
import { Time } from "../components/Time";
import { isMissing, useResourceStatus } from "./queries";
import { Warning } from "./Warning";

// Why says in one sentence why a resource is not ready, or that its cluster cannot be read. If linked, it links to all objects.
export function Why({ entity, linked = false }: { entity: Entity; linked?: boolean }) {
  const { data, error, dataUpdatedAt } = useResourceStatus(entity);
  if (isMissing(error)) {
    return null;
  }
  if (error) {
    return (
      <Warning title="The current state is not known">
        <Text size="sm">
          {`${messageOf(error)}. `}
          {dataUpdatedAt > 0 ? (
            <>
              Last read <Time at={dataUpdatedAt} />.
            </>
          ) : (
            "This page shows what was read last."
          )}
        </Text>
      </Warning>
    );
  }
  if (!data?.reason) {
    return null;
  }
  const { sentence, since, path } = data.reason;
  // A part that fails is a reason even if the resource itself has not reported it yet.
  const unknown = data.tree.readiness === "unknown" && path.length === 0;
  return (
    <Warning title={unknown ? "Readiness is not known yet" : "Not ready"}>
      <Text size="sm" role="status" style={{ overflowWrap: "anywhere" }}>
        {sentence}
        {since && (
          <>
            {" ("}
            <Time at={since} />)
          </>
        )}
      </Text>
      {linked && (data.tree.children ?? []).length > 0 && (
        <Anchor component={Link} to="?tab=objects" size="sm">
          Show all objects
        </Anchor>
      )}
    </Warning>
  );
}
