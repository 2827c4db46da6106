import type { EntityPart } from "../api/types";
import { iconOf } from "./entityIcon";
import { Icon } from "./Icon";
import styles from "./EntityIcon.module.css";

// EntityIcon is the icon of an entity on a small tile.
export function EntityIcon({ entity, size = 28 }: { entity: EntityPart; size?: number }) {
  return (
    <span className={styles.tile} style={{ width: size, height: size }} aria-hidden>
      <Icon name={iconOf(entity)} size={Math.round(size * 0.6)} />
    </span>
  );
}
