import { ActionIcon, Kbd } from "@mantine/core";
import { Icon } from "../components/Icon";
import { useDialog } from "../search/SearchProvider";
import { texts } from "../text";
import styles from "./Frame.module.css";

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

// Search opens the palette: it looks like a field on wide screens and is an icon on narrow ones.
export function Search() {
  const open = useDialog();
  return (
    <>
      <button type="button" className={styles.search} onClick={() => open("palette")} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span className={styles.searchLabel}>{texts.search.open}</span>
        <Kbd aria-hidden>{isMac ? "⌘ K" : "Ctrl K"}</Kbd>
      </button>
      <ActionIcon variant="subtle" color="gray" size="lg" c="var(--mantine-color-text)" className={styles.searchIcon} aria-label={texts.search.open} onClick={() => open("palette")}>
        <Icon name="search" />
      </ActionIcon>
    </>
  );
}
