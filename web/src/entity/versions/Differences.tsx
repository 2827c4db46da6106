import { useState } from "react";
import { Button, Text } from "@mantine/core";
import { Tag, type Tone } from "../../components/Tag";
import type { Change, Difference, Line } from "./diff";
import tables from "../Entity.module.css";
import styles from "./Versions.module.css";

const tones: Record<Change, Tone> = { added: "success", removed: "error", changed: "warning", same: "plain" };

// step is the number of rows shown at once.
const step = 200;

// Differences is a table of fields before and after.
export function Differences({ differences, left, right }: { differences: Difference[]; left?: string; right: string }) {
  const [shown, setShown] = useState(step);
  if (differences.length === 0) {
    return null;
  }
  return (
    <div className={tables.scroll} tabIndex={0} role="region" aria-label="Fields">
      <table className={`${tables.table} ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {left !== undefined && <th scope="col">{`Before${left ? `: ${left}` : ""}`}</th>}
            <th scope="col">{left !== undefined ? `After${right ? `: ${right}` : ""}` : "Type"}</th>
          </tr>
        </thead>
        <tbody>
          {differences.slice(0, shown).map((d) => (
            <tr key={d.path} className={styles[d.change]}>
              <th scope="row">
                <Text component="span" size="sm" ff="monospace" fw={500}>
                  {d.path}
                </Text>{" "}
                {d.change !== "same" && <Tag tone={tones[d.change]}>{d.change}</Tag>}
              </th>
              {left !== undefined && (
                <td>
                  <Cell line={d.left} other={d.right} />
                </td>
              )}
              <td>
                <Cell line={d.right} other={d.left} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {differences.length > shown && (
        <Button mt="sm" size="xs" variant="default" onClick={() => setShown(shown + step)}>
          {`Show ${Math.min(step, differences.length - shown)} more of ${differences.length}`}
        </Button>
      )}
    </div>
  );
}

// Cell is a field on one side. Differences are marked by weight and underline, not by color.
function Cell({ line, other }: { line: Line | undefined; other: Line | undefined }) {
  if (!line) {
    return (
      <Text size="sm" c="dimmed">
        not present
      </Text>
    );
  }
  const mark = (differs: boolean) => (other && differs ? styles.differs : undefined);
  return (
    <>
      <Text size="sm">
        <span className={mark(line.type !== other?.type)}>{line.type}</span>
        {(line.required || other?.required) && <span className={mark(line.required !== other?.required)}>{line.required ? ", required" : ", optional"}</span>}
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
