import { useState } from "react";
import { Button, Text } from "@mantine/core";
import { DataTable, type Column } from "../../components/DataTable";
import { Tag, type Tone } from "../../components/Tag";
import { texts } from "../../text";
import type { Change, Difference, Line } from "./diff";
import styles from "./Versions.module.css";

const words = texts.entity.versions;

const tones: Record<Change, Tone> = { added: "success", removed: "error", changed: "warning", same: "plain" };

const step = 200;

// Differences is the table of compared fields. Without left, it lists the fields of one version.
export function Differences({ differences, left, right }: { differences: Difference[]; left?: string; right: string }) {
  const [shown, setShown] = useState(step);
  const columns: Column<Difference>[] = [
    { title: words.field, cell: (d) => <Name difference={d} />, priority: "key" },
    ...(left !== undefined ? [{ title: words.before(left), cell: (d: Difference) => <Cell line={d.left} other={d.right} /> }] : []),
    { title: left !== undefined ? words.after(right) : words.type, cell: (d) => <Cell line={d.right} other={d.left} /> },
  ];
  return (
    <>
      <DataTable label={words.fields} columns={columns} rows={differences.slice(0, shown)} keyOf={(d) => d.path} classOf={(d) => `${styles[d.change] ?? ""} ${styles.row}`} />
      {differences.length > shown && (
        <Button size="xs" variant="default" style={{ alignSelf: "flex-start" }} onClick={() => setShown(shown + step)}>
          {words.more(Math.min(step, differences.length - shown), differences.length)}
        </Button>
      )}
    </>
  );
}

function Name({ difference: { path, change } }: { difference: Difference }) {
  return (
    <>
      <Text component="span" size="sm" ff="monospace" fw={500}>
        {path}
      </Text>{" "}
      {change !== "same" && <Tag tone={tones[change]}>{words.changes[change]}</Tag>}
    </>
  );
}

// Cell is a field on one side. Differences are marked by weight and underline, not by color.
function Cell({ line, other }: { line: Line | undefined; other: Line | undefined }) {
  if (!line) {
    return (
      <Text size="sm" c="dimmed">
        {words.absent}
      </Text>
    );
  }
  const mark = (differs: boolean) => (other && differs ? styles.differs : undefined);
  return (
    <>
      <Text size="sm">
        <span className={mark(line.type !== other?.type)}>{line.type}</span>
        {(line.required || other?.required) && <span className={mark(line.required !== other?.required)}>{`, ${line.required ? words.required : words.optional}`}</span>}
      </Text>
      {line.notes.map((note) => (
        <Text size="xs" key={note} className={mark(!other?.notes.includes(note))}>
          {note}
        </Text>
      ))}
      {line.description !== "" && (
        <Text size="xs" c="dimmed" className={mark(line.description !== other?.description)}>
          {line.description}
        </Text>
      )}
    </>
  );
}
