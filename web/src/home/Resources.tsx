import { Button, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import { annotation, annotations, entityPath, refOf, specText, titleOf } from "../api/entity";
import type { EntityPart } from "../api/types";
import { EntityIcon } from "../components/EntityIcon";
import { Icon } from "../components/Icon";
import { Status } from "../components/Status";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { fullRef, useTitle } from "../components/useTitles";
import { texts } from "../text";
import { Item, Items } from "./Items";
import { Panel } from "./Panel";
import { useResources } from "./queries";

const words = texts.home.resources;

// Resources lists the resources of the user by their last change, those that are not ready first.
export function Resources({ mine, own }: { mine: boolean; own: string[] }) {
  const base = mine ? "mine=true&" : "";
  const broken = useResources(`${base}status=not+ready`, own, 5);
  const all = useResources(`${base}status=ready&status=unknown`, own, 8);
  const notReady = broken.data?.totalItems ?? 0;
  const others = all.data?.totalItems ?? 0;
  const shown = [...(broken.data?.items ?? []), ...(all.data?.items ?? [])].slice(0, 10);
  return (
    <Panel
      title={mine ? words.mine : words.all}
      query={all.isPending ? all : broken}
      extra={notReady > 0 && <Tag tone="error">{words.notReady(notReady)}</Tag>}
      more={others + notReady > shown.length ? { label: words.more(others + notReady), to: `/catalog?${base}status=ready&status=not+ready&status=unknown` } : undefined}
    >
      {notReady + others === 0 ? (
        <Stack gap="sm" align="flex-start">
          <Text c="dimmed" size="sm">
            {mine ? words.noneMine : words.none}
          </Text>
          <Button component={Link} to="/create" variant="default" leftSection={<Icon name="plus" />}>
            {words.create}
          </Button>
        </Stack>
      ) : (
        <Items label={mine ? words.mine : words.all}>
          {shown.map((e) => (
            <Resource key={`${e.metadata?.namespace}/${e.metadata?.name}`} entity={e} />
          ))}
        </Items>
      )}
    </Panel>
  );
}

function Resource({ entity }: { entity: EntityPart }) {
  const since = specText(entity, "readinessSince");
  const owner = specText(entity, "owner");
  const { title } = useTitle(fullRef(owner, { kind: "group", namespace: entity.metadata?.namespace }), owner !== "");
  const cluster = annotation(entity, annotations.discoveredFrom);
  return (
    <Item
      to={entityPath(refOf(entity))}
      icon={<EntityIcon entity={entity} />}
      title={titleOf(entity)}
      detail={[entity.metadata?.description, owner && title, cluster].filter(Boolean).join(" · ")}
      side={
        <>
          <Status entity={entity} />
          {since !== "" && (
            <Text size="xs" c="dimmed">
              <Time at={since} />
            </Text>
          )}
        </>
      }
    />
  );
}
