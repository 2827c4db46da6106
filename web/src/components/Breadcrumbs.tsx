import { Link } from "react-router";
import { texts } from "../text";
import styles from "./Breadcrumbs.module.css";

export type Crumb = { label: string; to: string };

// Breadcrumbs are the links to the pages above the current one.
export function Breadcrumbs({ trail }: { trail: Crumb[] }) {
  return (
    <nav aria-label={texts.app.breadcrumbs}>
      <ol className={styles.trail}>
        {trail.map(({ label, to }) => (
          <li key={to}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}
