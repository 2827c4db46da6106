import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useNavigate } from "react-router";
import { entityPath, refOf } from "../api/entity";
import { Icon } from "../parts/Icon";
import type { Choice, Column } from "./choice";
import { useRows } from "./queries";
import { Row } from "./Row";
import styles from "./Catalog.module.css";

const rowHeight = 48;

const heads: { title: string; column?: Column }[] = [
  { title: "Name", column: "name" },
  { title: "Kind", column: "kind" },
  { title: "Type", column: "type" },
  { title: "Owner", column: "owner" },
  { title: "System", column: "system" },
  { title: "Tags" },
  { title: "Cluster" },
];

// Table shows any number of rows: those that are in sight exist, and only their pages are asked for.
export function Table({ choice, total, busy, onSort }: { choice: Choice; total: number; busy: boolean; onSort: (sort: Column, descending: boolean) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const [active, setActive] = useState(0);
  // focus says that the active row should have the focus as soon as it is there.
  const focus = useRef(false);
  const virtual = useVirtualizer({ count: total, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 12 });
  const items = virtual.getVirtualItems();
  const row = useRows(choice, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  const current = Math.min(active, Math.max(total - 1, 0));

  // Another choice is another list: it is seen from its beginning.
  useEffect(() => {
    box.current?.scrollTo({ top: 0 });
    setActive(0);
  }, [choice]);

  useEffect(() => {
    if (!focus.current) {
      return;
    }
    const link = box.current?.querySelector<HTMLElement>(`[data-index="${current}"] a`);
    if (link) {
      focus.current = false;
      link.focus({ preventScroll: true });
    }
  });

  const go = (index: number) => {
    const next = Math.min(Math.max(index, 0), total - 1);
    focus.current = true;
    setActive(next);
    virtual.scrollToIndex(next, { align: "auto" });
  };

  const press = (e: KeyboardEvent) => {
    const screen = Math.max(Math.floor((box.current?.clientHeight ?? rowHeight) / rowHeight) - 2, 1);
    const moves: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + screen,
      PageUp: current - screen,
      Home: 0,
      End: total - 1,
    };
    const to = moves[e.key];
    if (to !== undefined && !e.altKey && !e.ctrlKey && !e.metaKey) {
      e.preventDefault();
      go(to);
    }
  };

  return (
    <div className={styles.table} role="grid" aria-label="Entities" aria-rowcount={total + 1} aria-busy={busy} data-busy={busy || undefined}>
      <div role="rowgroup" className={styles.head}>
        <div role="row" aria-rowindex={1} className={styles.line}>
          {heads.map((h) => (
            <Head key={h.title} title={h.title} column={h.column} choice={choice} onSort={onSort} />
          ))}
        </div>
      </div>
      <div ref={box} className={styles.body} role="rowgroup" onKeyDown={press}>
        <div className={styles.space} style={{ height: virtual.getTotalSize() }} role="presentation">
          {items.map((item) => {
            const entity = row(item.index);
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                data-index={item.index}
                className={styles.row}
                style={{ transform: `translateY(${item.start}px)`, height: rowHeight }}
                onFocus={() => setActive(item.index)}
                // The whole row can be clicked; links in it, and text that is being marked, stay what they are.
                onClick={(e) => {
                  if (entity && !(e.target as HTMLElement).closest("a") && !window.getSelection()?.toString()) {
                    navigate(entityPath(refOf(entity)));
                  }
                }}
              >
                <Row entity={entity} reachable={item.index === current} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head({ title, column, choice, onSort }: { title: string; column?: Column; choice: Choice; onSort: (sort: Column, descending: boolean) => void }) {
  if (!column) {
    return (
      <div role="columnheader" className={styles.cell}>
        {title}
      </div>
    );
  }
  const on = choice.sort === column;
  return (
    <div role="columnheader" className={styles.cell} aria-sort={on ? (choice.descending ? "descending" : "ascending") : "none"}>
      <button type="button" className={styles.sort} onClick={() => onSort(column, on && !choice.descending)}>
        {title}
        {on && <Icon name={choice.descending ? "down" : "up"} size={14} />}
      </button>
    </div>
  );
}
