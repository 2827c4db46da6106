import type { ReactNode } from "react";
import { VisuallyHidden } from "@mantine/core";
import styles from "./DataTable.module.css";

// Column is a column of a table.
export type Column<T> = {
  // title is the heading, and the label of the value where rows are stacked.
  title: string;
  cell: (row: T) => ReactNode;
  // priority orders the values of a stacked row: the key is its heading, low ones come after the others, and actions, which are
  // buttons and links, at the end.
  priority?: "key" | "low" | "actions";
  // width is by content unless given: narrow columns do not wrap, wide ones hold long text. A number of pixels lines up the
  // columns of several tables.
  width?: "narrow" | "wide" | number;
  // silent hides the title, for a column of buttons.
  silent?: boolean;
};

type Props<T> = {
  // label names the table for screen readers.
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T, index: number) => string;
  classOf?: (row: T) => string | undefined;
};

// DataTable is a table whose text wraps. Where it has little room, each row becomes a list of values with labels.
export function DataTable<T>({ label, columns, rows, keyOf, classOf }: Props<T>) {
  // With another display value, browsers forget the roles of table elements: they are explicit here.
  return (
    <div className={styles.frame} role="region" aria-label={label}>
      <table className={styles.table} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((c) => (
              <th key={c.title} scope="col" role="columnheader" className={classes(c)} style={typeof c.width === "number" ? { width: c.width } : undefined}>
                {c.silent ? <VisuallyHidden>{c.title}</VisuallyHidden> : c.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, i) => (
            <tr key={keyOf(row, i)} role="row" className={classOf?.(row)}>
              {columns.map((c) =>
                c.priority === "key" ? (
                  <th key={c.title} scope="row" role="rowheader" className={classes(c)}>
                    {c.cell(row)}
                  </th>
                ) : (
                  <td key={c.title} role="cell" className={classes(c)} data-label={c.silent ? undefined : c.title}>
                    <div>{c.cell(row)}</div>
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classes<T>({ priority, width }: Column<T>): string {
  return [priority && styles[priority], typeof width === "string" && styles[width]].filter(Boolean).join(" ");
}
