import { VisuallyHidden } from "@mantine/core";
import type { EntityPart } from "../api/types";
import { readinessOf, readinessTitle } from "../api/readiness";
import { Icon } from "./Icon";
import { readinessIcons } from "./ReadinessTag";
import { texts } from "../text";
import styles from "./Status.module.css";

// Status shows whether an entity is ready, with icon and word. It is empty for entities that have no readiness.
export function Status({ entity }: { entity: EntityPart }) {
  const readiness = readinessOf(entity);
  if (!readiness) {
    return null;
  }
  const { value, since, lastKnown } = readiness;
  const last = lastKnown === "" ? "" : texts.catalog.lastKnown(lastKnown);
  const at = new Date(since);
  const tooltip = last || (Number.isNaN(at.getTime()) ? undefined : texts.catalog.since(at.toLocaleString()));
  return (
    <span className={styles.status} data-value={value} title={tooltip}>
      <Icon name={readinessIcons[value]} size={14} />
      {readinessTitle(value)}
      {last !== "" && <VisuallyHidden>, {last}</VisuallyHidden>}
    </span>
  );
}
