import { Stack, Text } from "@mantine/core";
import type { Entity, Schemas } from "../../api/types";
import { Empty, ErrorAlert, Loading } from "../../components/State";
import { Tag, type Tone } from "../../components/Tag";
import { Time } from "../../components/Time";
import { isMissing, useResourceStatus } from "../queries";
import { Why } from "../Why";
import styles from "./Objects.module.css";

type Node = Schemas["ResourceNode"];

// ObjectsTab shows the objects that a resource composes as a tree, and refreshes it.
export default function ObjectsTab({ entity }: { entity: Entity }) {
  const query = useResourceStatus(entity);
  if (!query.data) {
    if (isMissing(query.error) || query.fetchStatus === "idle") {
      return <Empty title="No objects">This resource was not read from a cluster.</Empty>;
    }
    return query.error ? <ErrorAlert error={query.error} retry={() => void query.refetch()} /> : <Loading label="Loading objects" />;
  }
  const { tree, cluster, read } = query.data;
  return (
    <Stack gap="md">
      <Why entity={entity} />
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Objects">
        <ul className={styles.tree}>
          <Item node={tree} />
        </ul>
      </div>
      <Text size="sm" c="dimmed">
        {query.connected ? (
          `Cluster ${cluster}, live.`
        ) : (
          <>
            {`Cluster ${cluster}, read `}
            <Time at={read} />.
          </>
        )}
      </Text>
    </Stack>
  );
}

const tones: Record<Node["readiness"], Tone> = { ready: "success", "not ready": "error", unknown: "warning", none: "plain" };

// Item is an object with those below it.
function Item({ node }: { node: Node }) {
  const children = node.children ?? [];
  return (
    <li>
      <div className={styles.row}>
        <span className={styles.name}>
          <strong>{node.ref.kind}</strong> {node.ref.name}
          {node.ref.namespace && <Text component="span" size="xs" c="dimmed">{` in ${node.ref.namespace}`}</Text>}
        </span>
        <State node={node} />
        {node.externalName && (
          <Text component="span" size="xs" c="dimmed" title="External name">
            {node.externalName}
          </Text>
        )}
        {node.created && (
          <Text component="span" size="xs" c="dimmed">
            created <Time at={node.created} />
          </Text>
        )}
        {said(node) && (
          <Text size="sm" c="dimmed" className={styles.message}>
            {said(node)}
          </Text>
        )}
      </div>
      {(children.length > 0 || node.more) && (
        <ul className={styles.tree}>
          {children.map((c) => (
            <Item key={`${c.ref.apiVersion} ${c.ref.kind} ${c.ref.namespace ?? ""} ${c.ref.name}`} node={c} />
          ))}
          {node.more && (
            <li>
              <Text size="sm" c="dimmed">{`${node.more} more`}</Text>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function State({ node }: { node: Node }) {
  if (node.state !== "present") {
    return <Tag tone={node.state === "missing" ? "error" : "warning"}>{node.state}</Tag>;
  }
  if (node.deleted) {
    return <Tag tone="progress">being deleted</Tag>;
  }
  if (node.paused) {
    return <Tag tone="warning">paused</Tag>;
  }
  return node.readiness === "none" ? null : <Tag tone={tones[node.readiness]}>{node.readiness}</Tag>;
}

// said returns what is worth knowing about an object: why it cannot be read, what a condition says, or the last warning.
function said(node: Node): string {
  if (node.problem) {
    return node.problem;
  }
  if (node.state === "missing") {
    return "The object does not exist.";
  }
  if (node.loop) {
    return "Already above: the references form a loop.";
  }
  for (const type of ["Synced", "Ready"]) {
    const c = node.conditions?.find((c) => c.type === type && c.status !== "True");
    if (c) {
      return [c.reason, c.message].filter(Boolean).join(": ");
    }
  }
  return node.event?.type === "Warning" ? (node.event.message ?? "") : "";
}
