import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Entity, Schemas } from "../api/types";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Time } from "../components/Time";
import { useResourceHistory } from "./queries";
import styles from "./Entity.module.css";

const operations: Record<Schemas["ResourceChange"]["operation"], string> = { create: "Created", update: "Updated", delete: "Deleted" };

// HistoryTab lists what tasks have done to a resource.
export default function HistoryTab({ entity }: { entity: Entity }) {
  const query = useResourceHistory(entity);
  if (!query.data) {
    return query.isError ? <ErrorAlert error={query.error} title="Cannot load the history" retry={() => void query.refetch()} /> : <Loading label="Loading history" />;
  }
  if (query.data.items.length === 0) {
    return <Empty title="No tasks yet">No task of this portal has changed the resource, or the tasks are no longer kept. Changes by other tools are not listed.</Empty>;
  }
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="History">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Change</th>
            <th scope="col">By</th>
            <th scope="col">When</th>
            <th scope="col">Task</th>
          </tr>
        </thead>
        <tbody>
          {query.data.items.map((c) => (
            <tr key={`${c.task} ${c.at}`}>
              <td>
                {operations[c.operation]}
                {c.fields && (
                  <Text size="sm" c="dimmed" className={styles.message}>
                    {c.fields.join(", ")}
                  </Text>
                )}
              </td>
              <td>
                <RefLink to={c.by} kind="user" />
              </td>
              <td>
                <Time at={c.at} />
              </td>
              <td>
                <Anchor component={Link} to={`/tasks/${encodeURIComponent(c.task)}`} size="sm">
                  View task
                </Anchor>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
