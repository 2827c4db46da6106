import { useEffect, useMemo, useRef } from "react";
import { Text } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { TaskLog } from "./taskLog";
import { texts } from "../../text";
import styles from "./Log.module.css";

const words = texts.create.task;

// height is the line height in the style sheet.
const height = 20;

// LogView shows the log of all steps or of one step. It renders only visible lines and follows the end while scrolled to
// the end.
export function LogView({ log, version, step, over }: { log: TaskLog; version: number; step: string | undefined; over: boolean }) {
  const lines = useMemo(() => (step === undefined ? log.lines : log.lines.filter((l) => l.step === step)), [log, version, step]);
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
      {log.dropped > 0 && (
        <Text size="sm" c="dimmed">{words.dropped(log.dropped)}</Text>
      )}
      <div
        ref={box}
        className={styles.log}
        tabIndex={0}
        role="log"
        aria-label={step === undefined ? words.logOfAll : words.logOfStep(step)}
        aria-live="off"
        onScroll={(e) => {
          const { scrollTop, clientHeight, scrollHeight } = e.currentTarget;
          atEnd.current = scrollTop + clientHeight >= scrollHeight - 2 * height;
        }}
      >
        {lines.length === 0 ? (
          <Text size="sm" c="dimmed" p="sm">
            {words.noOutput(over)}
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
