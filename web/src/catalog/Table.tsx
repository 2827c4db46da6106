import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useNavigate } from "react-router";
import { entityPath, refOf, specText } from "../api/entity";
import { Icon } from "../components/Icon";
import { fullRef, useTitles } from "../components/useTitles";
import type { EntityPart } from "../api/types";
import { texts } from "../text";
import { isFolded, type CatalogFilter, type Column } from "./filter";
import { isProduct, useParts } from "./products";
import { useRows } from "./queries";
import { Row } from "./Row";
import styles from "./Table.module.css";

// rowHeight is the height of a row before it is measured.
const rowHeight = 48;

const heads: { name: keyof typeof texts.catalog.columns; column?: Column }[] = [
  { name: "name", column: "name" },
  { name: "kind", column: "kind" },
  { name: "type", column: "type" },
  { name: "status" },
  { name: "owner", column: "owner" },
  { name: "system", column: "system" },
  { name: "tags" },
  { name: "cluster" },
];

const none: EntityPart[] = [];

// ownerOf and systemOf return the full reference of the owner and the system of an entity, or an empty string.
const ownerOf = (entity?: EntityPart) => refIn(entity, "owner", "group");
const systemOf = (entity?: EntityPart) => refIn(entity, "system", "system");

function refIn(entity: EntityPart | undefined, field: string, kind: string): string {
  const text = entity ? specText(entity, field) : "";
  return text === "" ? "" : fullRef(text, { kind, namespace: entity?.metadata?.namespace });
}

// Table is a virtualized table: it renders only visible rows and requests only their pages.
export function Table({ filter, total, busy, onSort }: { filter: CatalogFilter; total: number; busy: boolean; onSort: (sort: Column, descending: boolean) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const [active, setActive] = useState(0);
  // focus tells whether the active row gets the focus as soon as it is rendered.
  const focus = useRef(false);
  const virtual = useVirtualizer({ count: total, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 12 });
  const items = virtual.getVirtualItems();
  const rows = useRows(filter, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  const folded = isFolded(filter);
  const partsOf = useParts(folded ? rows.pages : []);
  const titles = useTitles(items.flatMap((item) => [ownerOf(rows.at(item.index)), systemOf(rows.at(item.index))]).filter((ref) => ref !== ""));
  const current = Math.min(active, Math.max(total - 1, 0));

  // Start at the top when the filter changes.
  useEffect(() => {
    box.current?.scrollTo({ top: 0 });
    setActive(0);
  }, [filter]);

  useEffect(() => {
    if (!focus.current) {
      return;
    }
    const link = box.current?.querySelector<HTMLElement>(`[data-index="${current}"] a[data-row-link]`);
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
    <div className={styles.table} role="grid" aria-label={texts.catalog.table} aria-rowcount={total + 1} aria-busy={busy} data-busy={busy || undefined}>
      <div role="rowgroup" className={styles.head}>
        <div role="row" aria-rowindex={1} className={styles.line}>
          {heads.map((h) => (
            <Head key={h.name} name={h.name} column={h.column} filter={filter} onSort={onSort} />
          ))}
        </div>
      </div>
      <div ref={box} className={styles.body} role="rowgroup" data-scrolls onKeyDown={press}>
        <div className={styles.space} style={{ height: virtual.getTotalSize() }} role="presentation">
          {items.map((item) => {
            const entity = rows.at(item.index);
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                data-index={item.index}
                data-last={item.index === total - 1 || undefined}
                ref={virtual.measureElement}
                className={styles.row}
                style={{ transform: `translateY(${item.start}px)` }}
                onFocus={() => setActive(item.index)}
                // A click anywhere in the row opens the entity, except on links and while selecting text.
                onClick={(e) => {
                  if (entity && !(e.target as HTMLElement).closest("a") && !window.getSelection()?.toString()) {
                    navigate(entityPath(refOf(entity)));
                  }
                }}
              >
                <Row
                  entity={entity}
                  reachable={item.index === current}
                  parts={entity && folded && isProduct(entity) ? partsOf(entity) : none}
                  owner={titles.get(ownerOf(entity))?.title ?? ""}
                  ownerRef={ownerOf(entity)}
                  system={titles.get(systemOf(entity))?.title ?? ""}
                  systemRef={systemOf(entity)}
                />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head({ name, column, filter, onSort }: { name: keyof typeof texts.catalog.columns; column?: Column; filter: CatalogFilter; onSort: (sort: Column, descending: boolean) => void }) {
  if (!column) {
    return (
      <div role="columnheader" className={styles.cell} data-column={name}>
        {texts.catalog.columns[name]}
      </div>
    );
  }
  const on = filter.sort === column;
  return (
    <div role="columnheader" className={styles.cell} data-column={name} aria-sort={on ? (filter.descending ? "descending" : "ascending") : "none"}>
      <button type="button" className={styles.sort} onClick={() => onSort(column, on && !filter.descending)}>
        {texts.catalog.columns[name]}
        {on && <Icon name={filter.descending ? "down" : "up"} size={14} />}
      </button>
    </div>
  );
}
