import { Text } from "@mantine/core";
import type { Schemas } from "../../api/types";
import { DataTable, type Column } from "../../components/DataTable";
import { Tag } from "../../components/Tag";
import { Time } from "../../components/Time";
import { number, texts } from "../../text";
import { keyOf } from "./state";

const words = texts.entity.events;

type Event = Schemas["ResourceStatus"]["events"][number];

const columns: Column<Event>[] = [
  { title: words.type, cell: (e) => <Tag tone={e.type === "Warning" ? "warning" : "plain"}>{e.type}</Tag>, width: "narrow" },
  { title: words.reason, cell: (e) => e.reason },
  { title: words.message, cell: (e) => e.message, width: "wide" },
  { title: words.count, cell: (e) => number(e.count ?? 1), width: "narrow", priority: "low" },
  { title: words.object, cell: (e) => `${e.object.kind} ${e.object.name}` },
  { title: words.last, cell: (e) => (e.last ? <Time at={e.last} /> : words.unknown), width: "narrow", priority: "low" },
];

// Events lists the last events about the objects of a resource.
export function Events({ events }: { events: Event[] }) {
  return events.length === 0 ? (
    <Text size="sm" c="dimmed">
      {words.none}
    </Text>
  ) : (
    <DataTable label={words.label} columns={columns} rows={events} keyOf={(e, i) => `${keyOf(e.object)} ${e.reason ?? ""} ${i}`} />
  );
}
