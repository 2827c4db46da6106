import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Entity, Schemas } from "../api/types";
import { DataTable, type Column } from "../components/DataTable";
import { RefLink } from "../components/RefLink";
import { Empty, ErrorAlert, Loading } from "../components/State";
import { Time } from "../components/Time";
import { texts } from "../text";
import { useResourceHistory } from "./queries";
import styles from "./Entity.module.css";

const words = texts.entity.history;

type Change = Schemas["ResourceChange"];

const columns: Column<Change>[] = [
  {
    title: words.change,
    priority: "key",
    width: 400,
    cell: (c) => (
      <>
        {words.operations[c.operation]}
        {c.fields && (
          <Text size="sm" c="dimmed" className={styles.message}>
            {c.fields.join(", ")}
          </Text>
        )}
      </>
    ),
  },
  { title: words.by, cell: (c) => (c.by ? <RefLink to={c.by} kind="user" icon /> : words.service) },
  { title: words.when, cell: (c) => <Time at={c.at} />, width: "narrow" },
  {
    title: words.task,
    width: "narrow",
    priority: "actions",
    silent: true,
    cell: (c) => (
      <Anchor component={Link} to={`/tasks/${encodeURIComponent(c.task)}`} size="sm">
        {words.viewTask}
      </Anchor>
    ),
  },
];

// HistoryTab lists what tasks have done to a resource.
export default function HistoryTab({ entity }: { entity: Entity }) {
  const query = useResourceHistory(entity);
  if (!query.data) {
    return query.isError ? <ErrorAlert error={query.error} title={words.failed} retry={() => void query.refetch()} /> : <Loading label={words.loading} />;
  }
  if (query.data.items.length === 0) {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  return <DataTable label={words.title} columns={columns} rows={query.data.items} keyOf={(c) => `${c.task} ${c.at}`} />;
}
