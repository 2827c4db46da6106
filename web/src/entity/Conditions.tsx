import { Text } from "@mantine/core";
import type { Entity } from "../api/types";
import { DataTable, type Column } from "../components/DataTable";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { texts } from "../text";
import { toneOf, conditionTitle, type Condition } from "./facts";
import { useConditions } from "./queries";
import styles from "./Entity.module.css";

const words = texts.entity.conditions;

const columns: Column<Condition>[] = [
  { title: words.condition, cell: (c) => conditionTitle(c.type), priority: "key" },
  { title: words.status, cell: (c) => <Tag tone={toneOf[c.state]}>{c.state}</Tag>, width: "narrow" },
  { title: words.reason, cell: (c) => c.reason },
  { title: words.message, cell: (c) => c.message && <span className={styles.message}>{c.message}</span>, width: "wide" },
  { title: words.since, cell: (c) => c.since && <Time at={c.since} />, width: "narrow", priority: "low" },
];

// Conditions shows the conditions of a resource and refreshes them.
export function Conditions({ entity }: { entity: Entity }) {
  const conditions = useConditions(entity);
  return conditions.length === 0 ? (
    <Text size="sm" c="dimmed">
      {words.none}
    </Text>
  ) : (
    <DataTable label={words.title} columns={columns} rows={conditions} keyOf={(c) => c.type} />
  );
}
