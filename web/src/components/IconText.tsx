import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import { Name } from "./Name";
import styles from "./IconText.module.css";

// IconText is a text after an icon. Long texts wrap beside the icon.
export function IconText({ icon, children }: { icon: IconName; children: ReactNode }) {
  return (
    <span className={styles.box}>
      <Icon name={icon} size={16} className={styles.icon} />
      <span className={styles.text}>{typeof children === "string" ? <Name>{children}</Name> : children}</span>
    </span>
  );
}
