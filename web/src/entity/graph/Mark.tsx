import type { Readiness } from "../facts";
import styles from "./Graph.module.css";

// Each readiness has its own shape, so that it does not depend on color.
const shapes: Record<Readiness, string> = {
  ready: "M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1zM4 7.2l2 2 4-4.2",
  "not ready": "M7 1l6.2 11.5H.8zM7 5v3.6M7 10.4v.4",
  unknown: "M7 .8L13.2 7 7 13.2.8 7zM4.4 7h5.2",
};

const classes: Record<Readiness, string | undefined> = { ready: styles.ready, "not ready": styles.notReady, unknown: styles.unknown };

// Mark shows readiness by shape and color, beside the text.
export function Mark({ readiness }: { readiness: Readiness }) {
  return (
    <svg width={14} height={14} viewBox="0 0 14 14" className={`${styles.mark} ${classes[readiness]}`} aria-hidden focusable="false">
      <path d={shapes[readiness]} />
    </svg>
  );
}
