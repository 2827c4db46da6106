import { Text } from "@mantine/core";
import { entityPath, parseRef } from "../api/entity";
import type { EntityPart } from "../api/types";
import { EntityIcon } from "../components/EntityIcon";
import { Status } from "../components/Status";
import { Time } from "../components/Time";
import { texts } from "../text";
import { Item, Items } from "./Items";
import { Panel } from "./Panel";
import { useRecentChanges, type Change } from "./queries";

const words = texts.home.changes;

// Changes lists what was created or changed in the last day.
export function Changes() {
  const recent = useRecentChanges(10);
  const shown = recent.data ?? [];
  return (
    <Panel title={words.title} query={recent}>
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm">
          {words.none}
        </Text>
      ) : (
        <Items label={words.title}>
          {shown.map((change) => (
            <Item
              key={change.entityRef}
              to={entityPath(parseRef(change.entityRef))}
              icon={<EntityIcon entity={entityOf(change)} />}
              title={change.title}
              detail={[change.kind, change.change === "created" ? words.created : words.changed].join(" · ")}
              side={
                <>
                  <Status entity={entityOf(change)} />
                  <Text size="xs" c="dimmed">
                    <Time at={change.at} />
                  </Text>
                </>
              }
            />
          ))}
        </Items>
      )}
    </Panel>
  );
}

// entityOf returns the part of an entity that icon and status depend on.
function entityOf(change: Change): EntityPart {
  const { namespace, name } = parseRef(change.entityRef);
  return { kind: change.kind, metadata: { name, namespace, title: change.title, tags: change.tags }, spec: { type: change.type, readiness: change.readiness } as never };
}
