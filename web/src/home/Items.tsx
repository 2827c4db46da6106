import type { ReactNode } from "react";
import { Text } from "@mantine/core";
import { Link } from "react-router";
import styles from "./Home.module.css";

// Items is a list of links.
export function Items({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles.items} aria-label={label}>
      {children}
    </ul>
  );
}

type Props = { to: string; icon?: ReactNode; title: string; detail?: string; side?: ReactNode; action?: ReactNode };

// Item is a line with an icon, a title that links to a page, a detail, and something at the side. All of the line can be
// clicked.
export function Item({ to, icon, title, detail, side, action }: Props) {
  return (
    <li className={styles.item}>
      {icon}
      <div className={styles.itemWords}>
        <Link to={to} className={styles.itemLink}>
          {title}
        </Link>
        {detail && (
          <Text size="xs" c="dimmed">
            {detail}
          </Text>
        )}
      </div>
      {side && <div className={styles.side}>{side}</div>}
      {action && <div className={styles.action}>{action}</div>}
    </li>
  );
}
