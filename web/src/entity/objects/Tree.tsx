import type { ReactNode } from "react";
import { Text } from "@mantine/core";
import { Tag, type Tone } from "../../components/Tag";
import { Time } from "../../components/Time";
import { usePermission } from "../../app/permission";
import { number, texts } from "../../text";
import { keyOf, said, stateOf, type ObjectNode } from "./state";
import styles from "./Objects.module.css";

const words = texts.entity.objects;

// Tree shows objects as nested lists. more is shown after the children of the root.
export function Tree({ tree, more }: { tree: ObjectNode; more?: ReactNode }) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={words.title}>
      <ul className={styles.tree}>
        <Item node={tree} more={more} />
      </ul>
    </div>
  );
}

// Item is an object with those below it.
function Item({ node, more }: { node: ObjectNode; more?: ReactNode }) {
  const children = node.children ?? [];
  const rest = more ?? (node.more ? <Text size="sm" c="dimmed">{words.more(number(node.more))}</Text> : undefined);
  return (
    <li>
      <Row node={node} />
      {(children.length > 0 || rest) && (
        <ul className={styles.tree}>
          {children.map((c) => (
            <Item key={keyOf(c.ref)} node={c} />
          ))}
          {rest && <li>{rest}</li>}
        </ul>
      )}
    </li>
  );
}

// Row is an object: its name and state, and what is worth knowing about it.
export function Row({ node }: { node: ObjectNode }) {
  const operator = usePermission("catalog.ingestion.read").allowed;
  const message = said(node, operator);
  return (
    <div className={styles.row}>
      <span className={styles.name}>
        <strong>{node.ref.kind}</strong> {node.ref.name}
        {node.ref.namespace && <Text component="span" size="xs" c="dimmed">{` ${words.inNamespace(node.ref.namespace)}`}</Text>}
      </span>
      <State node={node} />
      {node.externalName && (
        <Text component="span" size="xs" c="dimmed" title={words.externalName}>
          {node.externalName}
        </Text>
      )}
      {node.created && (
        <Text component="span" size="xs" c="dimmed">
          {words.created} <Time at={node.created} />
        </Text>
      )}
      {message !== "" && (
        <Text size="sm" c="dimmed" className={styles.message}>
          {message}
        </Text>
      )}
    </div>
  );
}

const tones: Record<string, Tone> = { ready: "success", "not ready": "error", missing: "error", "being deleted": "progress" };

function State({ node }: { node: ObjectNode }) {
  const state = stateOf(node) ?? node.readiness;
  return state === "none" ? null : <Tag tone={tones[state] ?? "warning"}>{state}</Tag>;
}
