import { NavLink } from "react-router";
import { Icon } from "../components/Icon";
import { entityPath, refOf, templatePath, titleOf } from "../api/entity";
import { iconOf } from "../components/entityIcon";
import { useDialog } from "../search/SearchProvider";
import { useStarred } from "../settings/starred";
import { texts } from "../text";
import { pages } from "./pages";
import styles from "./Frame.module.css";

// NavLinks are the links to the main pages.
export function NavLinks({ onGo }: { onGo: () => void }) {
  return (
    <ul className={styles.links}>
      {pages.map(({ to, label, icon }) => (
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

// StarredLinks are the links to what the user starred.
export function StarredLinks({ onGo }: { onGo: () => void }) {
  const starred = useStarred();
  if (!starred || starred.length === 0) {
    return null;
  }
  return (
    <>
      <div className={styles.section} id="starred-links">
        {texts.settings.starred}
      </div>
      <ul className={`${styles.links ?? ""} ${styles.starred ?? ""}`} aria-labelledby="starred-links">
        {starred.map((entity) => {
          const ref = refOf(entity);
          const to = entity.kind === "Template" ? templatePath(ref) : entityPath(ref);
          return (
            <li key={to}>
              <NavLink to={to} className={styles.navLink} title={titleOf(entity)} onClick={onGo}>
                <Icon name={iconOf(entity)} />
                <span className={`${styles.navLabel ?? ""} ${styles.starLabel ?? ""}`}>{titleOf(entity)}</span>
              </NavLink>
            </li>
          );
        })}
      </ul>
    </>
  );
}

// ShortcutsButton shows the keyboard shortcuts.
export function ShortcutsButton() {
  const open = useDialog();
  return (
    <div className={styles.foot}>
      <button type="button" className={styles.navLink} onClick={() => open("shortcuts")} title={texts.search.shortcuts}>
        <Icon name="keyboard" />
        <span className={styles.navLabel}>{texts.search.shortcuts}</span>
      </button>
    </div>
  );
}
