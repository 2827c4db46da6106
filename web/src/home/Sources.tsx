import { Text } from "@mantine/core";
import { Icon } from "../components/Icon";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { stateLabels } from "../ingestion/labels";
import { useHealth } from "../ingestion/queries";
import { targetsOf } from "../ingestion/target";
import { texts } from "../text";
import { Item, Items } from "./Items";
import { Panel } from "./Panel";

const words = texts.home.sources;

// Sources shows operators the state of what is read.
export function Sources() {
  const health = useHealth();
  const targets = targetsOf(health.data?.sources ?? []);
  return (
    <Panel title={words.title} query={health} more={{ label: words.more, to: "/ingestion" }}>
      {targets.length === 0 ? (
        <Text c="dimmed" size="sm">
          {words.none}
        </Text>
      ) : (
        <Items label={words.title}>
          {targets.map((target) => (
            <Item
              key={target.name}
              to="/ingestion"
              icon={<Icon name={target.cluster ? "cluster" : "repository"} />}
              title={target.name}
              side={
                <>
                  <Tag tone={target.tone}>{stateLabels[target.state]}</Tag>
                  <Text size="xs" c="dimmed">
                    <Time at={target.lastSuccess} />
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
