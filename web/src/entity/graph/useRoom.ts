import { useLayoutEffect, useState, type RefObject } from "react";

// least is the minimum height of a graph, and below what has to remain on the screen under it: the legend.
const least = 360;
const below = 56;

// useRoom returns the height that an element can have without reaching below the screen.
export function useRoom(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(least);
  useLayoutEffect(() => {
    const measure = () => {
      const top = (element.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
      setHeight(Math.max(least, Math.floor(window.innerHeight - top - below)));
    };
    measure();
    // What is above the element can change its height, and with it that of the page.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    window.addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", measure);
    };
  }, [element]);
  return height;
}
