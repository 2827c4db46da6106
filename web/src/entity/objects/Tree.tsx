import type { ReactNode } from "react";
import { Text } from "@mantine/core";
import { ReadinessTag } from "../../components/ReadinessTag";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import { usePermission } from "../../app/permission";
import { number, texts } from "../../text";
import { keyOf, said, stateOf, toneOf, type ObjectNode } from "./state";
import styles from "./Objects.module.css";

const words = texts.entity.objects;

// Tree shows objects as nested lists whose columns are aligned. more is shown after the children of the root.
export function Tree({ tree, more }: { tree: ObjectNode; more?: ReactNode }) {
  return (
    <div className={styles.frame} role="region" aria-label={words.title}>
      <div className={`${styles.row} ${styles.head}`} aria-hidden>
        <span>{words.object}</span>
        <span>{words.status}</span>
        <span>{words.age}</span>
      </div>
      <ul className={styles.tree}>
        <Item node={tree} more={more} />
      </ul>
    </div>
  );
}

// Item is an object with those below it. within is the namespace of the object above.
function Item({ node, within, more }: { node: ObjectNode; within?: string; more?: ReactNode }) {
  const children = node.children ?? [];
  const rest = more || (node.more ? <Text size="sm" c="dimmed">{words.more(number(node.more))}</Text> : undefined);
  return (
    <li>
      <Row node={node} within={within} />
      {(children.length > 0 || rest) && (
        <ul className={styles.tree}>
          {children.map((c) => (
            <Item key={keyOf(c.ref)} node={c} within={node.ref.namespace} />
          ))}
          {rest && <li className={styles.rest}>{rest}</li>}
        </ul>
      )}
    </li>
  );
}

// Row is an object: its name, state and age, and what is worth knowing about it. Its namespace is shown unless it is that of the
// object above.
export function Row({ node, within }: { node: ObjectNode; within?: string }) {
  const operator = usePermission("catalog.ingestion.read").allowed;
  const { kind, name, namespace } = node.ref;
  const message = said(node, operator);
  const state = stateOf(node);
  return (
    <div className={styles.row}>
      <span className={styles.name}>
        <strong>{kind}</strong> {name}
        {namespace && namespace !== within && <Text component="span" size="xs" c="dimmed">{` ${words.inNamespace(namespace)}`}</Text>}
        {node.externalName && (
          <Text component="span" size="xs" c="dimmed" display="block" title={words.externalName}>
            {node.externalName}
          </Text>
        )}
      </span>
      <span>{state ? <Tag tone={toneOf(node)}>{state}</Tag> : node.readiness !== "none" && <ReadinessTag value={node.readiness} />}</span>
      <Text component="span" size="xs" c="dimmed" className={styles.age}>
        {node.created && <Time at={node.created} />}
      </Text>
      {message !== "" && (
        <Text size="sm" c="dimmed" className={styles.message}>
          {message}
        </Text>
      )}
    </div>
  );
}
