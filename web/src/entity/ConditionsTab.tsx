import { Stack, Text } from "@mantine/core";
import { annotation, annotations } from "../api/entity";
import type { Entity } from "../api/types";
import { Empty } from "../parts/State";
import { Tag } from "../parts/Tag";
import { Time } from "../parts/Time";
import { readyIn, thingOf, toneOf, words, type Condition, type Readiness } from "./facts";
import { useConditions } from "./queries";
import styles from "./Entity.module.css";

const says: Record<Readiness, string> = {
  ready: "It is ready to use.",
  "not ready": "It is not ready yet. What follows is what the cluster says about it.",
  unknown: "Whether it is ready is not known yet.",
};

// ConditionsTab shows how a resource fares, as it changes.
export default function ConditionsTab({ entity }: { entity: Entity }) {
  const conditions = useConditions(entity);
  const thing = thingOf(entity);
  if (conditions.length === 0) {
    return <Empty title="No conditions yet">The cluster says nothing about this resource so far. This page looks again every few seconds.</Empty>;
  }
  const cluster = annotation(entity, annotations.discoveredFrom);
  return (
    <Stack gap="md">
      <Text role="status">{says[readyIn(conditions)]}</Text>
      <Conditions conditions={conditions} />
      <Text size="sm" c="dimmed">
        {`${[thing?.kind, thing?.name].filter(Boolean).join(" ")}${thing?.namespace ? ` in the namespace ${thing.namespace}` : ""}${cluster ? ` of ${cluster}` : ""}. Asked for again every few seconds.`}
      </Text>
    </Stack>
  );
}

// Conditions are those of a resource, each with what the cluster says about it.
export function Conditions({ conditions }: { conditions: Condition[] }) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Conditions">
      <table className={`${styles.table} ${styles.conditions}`}>
        <thead>
          <tr>
            <th scope="col">Condition</th>
            <th scope="col">State</th>
            <th scope="col">Since</th>
            <th scope="col">What the cluster says</th>
          </tr>
        </thead>
        <tbody>
          {conditions.map((c) => (
            <tr key={c.type}>
              <th scope="row">{words(c.type)}</th>
              <td>
                <Tag tone={toneOf[c.state]}>{c.state}</Tag>
              </td>
              <td>{c.since ? <Time at={c.since} /> : "–"}</td>
              <td>
                {c.reason || (c.message ? "" : "–")}
                {c.message && (
                  <Text size="sm" c="dimmed" className={styles.message}>
                    {c.message}
                  </Text>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
