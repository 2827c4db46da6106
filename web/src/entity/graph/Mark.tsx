import { Icon } from "../../components/Icon";
import { readinessIcons } from "../../components/ReadinessTag";
import type { Readiness } from "../facts";
import styles from "./Graph.module.css";

const classes: Record<Readiness, string | undefined> = { ready: styles.ready, "not ready": styles.notReady, unknown: styles.unknown };

// Mark shows readiness by shape and color, beside the text.
export function Mark({ readiness }: { readiness: Readiness }) {
  return <Icon name={readinessIcons[readiness]} size={14} className={`${styles.mark} ${classes[readiness]}`} />;
}
