import { UnstyledButton } from "@mantine/core";
import type { Run } from "../api/types";
import { Tag } from "../components/Tag";
import { duration, Time } from "../components/Time";
import { number, texts } from "../text";
import { shortSource, triggers } from "./labels";
import { keyOf } from "./plot";
import styles from "./RunTable.module.css";

const words = texts.ingestion.runs;
const phases = ["read", "load", "transform", "write"] as const;
const counts = ["added", "updated", "removed"] as const;
const columns = Object.entries(words.columns) as [keyof typeof words.columns, string][];

// RunTable lists runs. On narrow screens each run is a block, and columns without a value are left out.
export function RunTable({ runs, chosen, onSelect }: { runs: Run[]; chosen?: Run; onSelect: (run: Run) => void }) {
  return (
    <div className={styles.frame} tabIndex={0} role="region" aria-label={words.title}>
      <table role="table" className={styles.table}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(([key, title]) => (
              <th role="columnheader" key={key} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {runs.map((run) => (
            <tr role="row" key={keyOf(run)} data-chosen={run === chosen || undefined}>
              <td role="cell">
                <UnstyledButton onClick={() => onSelect(run)} aria-pressed={run === chosen} className={styles.select}>
                  <Time at={run.started} />
                </UnstyledButton>
              </td>
              <td role="cell" className={styles.source}>{run.source ? shortSource(run.source) : words.watch}</td>
              <td role="cell">{triggers[run.trigger]}</td>
              <td role="cell" data-label={words.columns.duration}>{duration(run.milliseconds)}</td>
              {phases.map((phase) => (
                <td role="cell" key={phase} data-label={words.columns[phase]} data-detail>
                  {run.phases?.[phase] === undefined ? "" : duration(run.phases[phase])}
                </td>
              ))}
              {counts.map((key) => (
                <td role="cell" key={key} data-label={words.columns[key]} data-none={run[key] === 0 || undefined}>
                  {number(run[key])}
                </td>
              ))}
              <td role="cell">{run.error ? <Tag tone="error">{words.error}</Tag> : <Tag tone="success">{words.succeeded}</Tag>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
