import { useEffect, type RefObject } from "react";

// useListRoom tells the styles how much of the window a list may fill: --list-top is where it begins on the page, for what is
// beside it too, and --bar is the width of its scrollbar.
export function useListRoom(list: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const measure = () => {
      const at = list.current;
      if (!at) {
        return;
      }
      const body = at.querySelector<HTMLElement>("[data-scrolls]");
      at.style.setProperty("--bar", `${body ? body.offsetWidth - body.clientWidth : 0}px`);
      at.parentElement?.style.setProperty("--list-top", `${Math.round(at.getBoundingClientRect().top + window.scrollY)}px`);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    if (list.current) {
      observer.observe(list.current);
    }
    return () => observer.disconnect();
  }, [list]);
}
