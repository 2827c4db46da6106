import { NavLink } from "react-router";
import { Icon, type IconName } from "../components/Icon";
import { texts } from "../text";
import styles from "./Frame.module.css";

const items: { to: string; label: string; icon: IconName }[] = [
  { to: "/", label: texts.app.home, icon: "home" },
  { to: "/catalog", label: texts.app.catalog, icon: "catalog" },
  { to: "/create", label: texts.app.create, icon: "create" },
  { to: "/tasks", label: texts.app.tasks, icon: "tasks" },
  { to: "/ingestion", label: texts.app.ingestion, icon: "ingestion" },
  { to: "/playground", label: texts.app.playground, icon: "playground" },
];

// NavLinks are the links to the main pages.
export function NavLinks({ onGo }: { onGo: () => void }) {
  return (
    <ul className={styles.links}>
      {items.map(({ to, label, icon }) => (
        <li key={to}>
          <NavLink to={to} end={to === "/"} className={styles.navLink} title={label} onClick={onGo}>
            <Icon name={icon} />
            <span className={styles.navLabel}>{label}</span>
          </NavLink>
        </li>
      ))}
    </ul>
  );
}
