import { useEffect, useRef } from "react";
import { Tabs } from "@mantine/core";
import styles from "./TabBar.module.css";

// TabBar is the list of tabs of a page. On narrow screens it scrolls, with a shadow on the side where there is more.
export function TabBar({ tabs, active }: { tabs: { name: string; title: string }[]; active: string }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const frame = list.current;
    if (!frame) {
      return;
    }
    const center = () => {
      const tab = frame.querySelector<HTMLElement>('[aria-selected="true"]');
      if (tab) {
        // scrollIntoView would also scroll the page.
        frame.scrollLeft = tab.offsetLeft - (frame.clientWidth - tab.clientWidth) / 2;
      }
    };
    center();
    // A phone can be turned.
    const observer = new ResizeObserver(center);
    observer.observe(frame);
    return () => observer.disconnect();
  }, [active]);
  return (
    <Tabs.List ref={list} className={styles.tabs} mb="md">
      {tabs.map((t) => (
        <Tabs.Tab key={t.name} value={t.name}>
          {t.title}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}
