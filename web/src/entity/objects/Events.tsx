import { Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/types";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import tables from "../Entity.module.css";
import { keyOf } from "./state";
import styles from "./Objects.module.css";

// Events lists the last events about the objects of a resource.
export function Events({ events }: { events: Schemas["ResourceStatus"]["events"] }) {
  return (
    <section aria-labelledby="events">
      <Title order={2} size="h4" id="events" mb="xs">
        Events
      </Title>
      {events.length === 0 ? (
        <Text size="sm" c="dimmed">
          No events. By default, Kubernetes keeps events for about an hour.
        </Text>
      ) : (
        <div className={tables.scroll} tabIndex={0} role="region" aria-label="Events about the objects">
          <table className={`${tables.table} ${styles.events}`}>
            <thead>
              <tr>
                <th scope="col">Type</th>
                <th scope="col">Reason</th>
                <th scope="col">Message</th>
                <th scope="col">Count</th>
                <th scope="col">Object</th>
                <th scope="col">Last seen</th>
              </tr>
            </thead>
            <tbody>
              {events.map((e, i) => (
                <tr key={`${keyOf(e.object)} ${e.reason ?? ""} ${i}`}>
                  <td>
                    <Tag tone={e.type === "Warning" ? "warning" : "plain"}>{e.type}</Tag>
                  </td>
                  <td>{e.reason}</td>
                  <td>{e.message}</td>
                  <td>{e.count ?? 1}</td>
                  <td>{`${e.object.kind} ${e.object.name}`}</td>
                  <td>{e.last ? <Time at={e.last} /> : "unknown"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
