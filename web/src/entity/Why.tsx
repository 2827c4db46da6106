import { Anchor, Button, Group, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Entity, Schemas } from "../api/types";
import { Icon } from "../components/Icon";
import { Notice } from "../components/Notice";
import { Time } from "../components/Time";
import { texts } from "../text";
import { useUpdatePath } from "./Actions";
import { readinessNow } from "./facts";
import { useResourceStatus } from "./queries";

const words = texts.entity.why;

// Why says why a resource is not ready: what happened, at which object, since when, and the field to change. If linked, it links
// to all objects.
export function Why({ entity, linked = false }: { entity: Entity; linked?: boolean }) {
  const { data, error, problem } = useResourceStatus(entity);
  const update = useUpdatePath(entity);
  if (error || problem || !data?.reason) {
    // The page says elsewhere that the cluster cannot be read.
    return null;
  }
  const { field } = data.reason;
  return (
    <Notice tone={data.ready ? "warning" : "error"} title={titleFor(data)} role="group" aria-label={titleFor(data)}>
      <Reason reason={data.reason} />
      <Group gap="md" mt="xs">
        {field && update && (
          <Button component={Link} to={update({ field })} size="xs" variant="default" leftSection={<Icon name="edit" size={14} />}>
            {words.change(field.replace(/^spec\./, ""))}
          </Button>
        )}
        {linked && (data.tree.children ?? []).length > 0 && (
          <Anchor component={Link} to="?tab=objects" size="sm">
            {words.objects}
          </Anchor>
        )}
      </Group>
    </Notice>
  );
}

function titleFor(status: Schemas["ResourceStatus"]): string {
  if (status.ready && !status.tree.deleted) {
    return words.notApplied;
  }
  return readinessNow(status) === "unknown" ? words.unknown : words.notReady;
}

// Reason says what the object with the cause says, which object that is, and since when.
function Reason({ reason: { message, path, since } }: { reason: Schemas["ResourceReason"] }) {
  const where = path.map((o) => `${o.kind} ${o.name}`).join(" → ");
  return (
    <div role="status">
      <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
        {message}
      </Text>
      {(where !== "" || since) && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {where}
          {since && (
            <>
              {where === "" ? words.sinceFirst : ` · ${words.since}`} <Time at={since} />
            </>
          )}
        </Text>
      )}
    </div>
  );
}
