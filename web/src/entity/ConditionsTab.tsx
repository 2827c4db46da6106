import { Stack, Text } from "@mantine/core";
import { annotation } from "../api/entity";
import type { Entity } from "../api/types";
import { Empty } from "../parts/State";
import { Tag } from "../parts/Tag";
import { conditionsOf, readinessOf, thingOf, toneOf, words, type Readiness } from "./facts";
import styles from "./Entity.module.css";

const says: Record<Readiness, string> = {
  ready: "It is ready to use.",
  "not ready": "It is not ready yet. The reasons below are those of the cluster; its events say more.",
  unknown: "Whether it is ready is not known yet.",
};

// ConditionsTab shows how a resource fares. The page asks for the entity every few seconds while this is open.
export default function ConditionsTab({ entity }: { entity: Entity }) {
  const conditions = conditionsOf(entity);
  const thing = thingOf(entity);
  if (conditions.length === 0) {
    return <Empty title="No conditions yet">The cluster says nothing about this resource so far. This page looks again every few seconds.</Empty>;
  }
  return (
    <Stack gap="md">
      <Text aria-live="polite">{says[readinessOf(entity) ?? "unknown"]}</Text>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Conditions">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Condition</th>
              <th scope="col">State</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map((c) => (
              <tr key={c.type}>
                <th scope="row">{words(c.type)}</th>
                <td>
                  <Tag tone={toneOf[c.state]}>{c.state}</Tag>
                </td>
                <td>{c.reason || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Text size="sm" c="dimmed">
        {`${[thing?.kind, thing?.name].filter(Boolean).join(" ")}${thing?.namespace ? ` in the namespace ${thing.namespace}` : ""}${
          annotation(entity, "portal.io/discovered-from") ? ` of ${annotation(entity, "portal.io/discovered-from")}` : ""
        }. Asked for again every few seconds.`}
      </Text>
    </Stack>
  );
}
