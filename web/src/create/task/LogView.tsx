import { useEffect, useMemo, useRef } from "react";
import { Text } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { Journal } from "./journal";
import styles from "./Log.module.css";

// height is that of a line, as the style sheet has it.
const height = 20;

// LogView shows the lines of a log, or those of one step. Only the lines that are seen are there. It stays at the end while
// somebody is at the end.
export function LogView({ journal, version, step, over }: { journal: Journal; version: number; step: string | undefined; over: boolean }) {
  const lines = useMemo(() => (step === undefined ? journal.lines : journal.lines.filter((l) => l.step === step)), [journal, version, step]);
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const rows = useVirtualizer({ count: lines.length, getScrollElement: () => box.current, estimateSize: () => height, overscan: 30 });
  useEffect(() => {
    if (atEnd.current && box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [lines]);
  const items = rows.getVirtualItems();
  return (
    <>
      {journal.dropped > 0 && (
        <Text size="sm" c="dimmed">{`The first ${journal.dropped.toLocaleString("en")} lines are not shown here; they are in the whole log.`}</Text>
      )}
      <div
        ref={box}
        className={styles.log}
        tabIndex={0}
        role="log"
        aria-label={step === undefined ? "Log of all steps" : `Log of the step ${step}`}
        aria-live="off"
        onScroll={(e) => {
          const { scrollTop, clientHeight, scrollHeight } = e.currentTarget;
          atEnd.current = scrollTop + clientHeight >= scrollHeight - 2 * height;
        }}
      >
        {lines.length === 0 ? (
          <Text size="sm" c="dimmed" p="sm">
            {over ? "Nothing was said here." : "Nothing has been said yet."}
          </Text>
        ) : (
          <div className={styles.inner} style={{ height: rows.getTotalSize() }}>
            <div className={styles.window} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
              {items.map((item) => (
                <code key={item.key} className={styles.line} title={lines[item.index]!.at}>
                  {lines[item.index]!.text || " "}
                </code>
              ))}
            </div>
          </div>
        )}
      </div>
    </>
  );
}
