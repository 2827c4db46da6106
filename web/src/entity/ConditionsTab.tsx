import { Stack, Text } from "@mantine/core";
import { annotation, annotations } from "../api/entity";
import type { Entity } from "../api/types";
import { Empty } from "../components/State";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { readyIn, objectOf, toneOf, conditionTitle, type Condition, type Readiness } from "./facts";
import { useConditions } from "./queries";
import styles from "./Entity.module.css";

const says: Record<Readiness, string> = {
  ready: "The resource is ready.",
  "not ready": "The resource is not ready yet. The cluster reports these conditions.",
  unknown: "Readiness is not known yet.",
};

// ConditionsTab shows the conditions of a resource and refreshes them.
export default function ConditionsTab({ entity }: { entity: Entity }) {
  const conditions = useConditions(entity);
  const object = objectOf(entity);
  if (conditions.length === 0) {
    return <Empty title="No conditions yet">The cluster has not reported conditions for this resource. Refreshes every 3 s.</Empty>;
  }
  const cluster = annotation(entity, annotations.discoveredFrom);
  return (
    <Stack gap="md">
      <Text role="status">{says[readyIn(conditions)]}</Text>
      <Conditions conditions={conditions} />
      <Text size="sm" c="dimmed">
        {`${[object?.kind, object?.name].filter(Boolean).join(" ")}${object?.namespace ? `, namespace ${object.namespace}` : ""}${cluster ? `, cluster ${cluster}` : ""}. Refreshes every 3 s.`}
      </Text>
    </Stack>
  );
}

// Conditions is the table of a resource's conditions.
export function Conditions({ conditions }: { conditions: Condition[] }) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Conditions">
      <table className={`${styles.table} ${styles.conditions}`}>
        <thead>
          <tr>
            <th scope="col">Condition</th>
            <th scope="col">Status</th>
            <th scope="col">Since</th>
            <th scope="col">Reason and message</th>
          </tr>
        </thead>
        <tbody>
          {conditions.map((c) => (
            <tr key={c.type}>
              <th scope="row">{conditionTitle(c.type)}</th>
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
