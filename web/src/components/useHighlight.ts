import { useEffect, type RefObject } from "react";
import { yamlTokens, type TokenKind } from "./yamlTokens";

const kinds: TokenKind[] = ["key", "string", "number", "keyword", "comment"];

// most limits the ranges of a text, and large is the length from which it is highlighted after it is visible.
export const most = 20_000;
const large = 50_000;

// registry returns the highlights of all texts of the page by kind, or undefined in browsers without them. Their colors are in
// Yaml.module.css.
function registry(): Record<TokenKind, Highlight> | undefined {
  if (typeof CSS === "undefined" || !("highlights" in CSS) || typeof Highlight === "undefined") {
    return undefined;
  }
  const found: Partial<Record<TokenKind, Highlight>> = {};
  for (const kind of kinds) {
    const name = `yaml-${kind}`;
    const known = CSS.highlights.get(name) ?? new Highlight();
    CSS.highlights.set(name, known);
    found[kind] = known;
  }
  return found as Record<TokenKind, Highlight>;
}

// highlight colors a text node with YAML or JSON. The returned function removes the colors.
export function highlight(node: Text): () => void {
  const highlights = registry();
  if (!highlights) {
    return () => undefined;
  }
  const added = yamlTokens(node.data, most).map(({ kind, start, end }) => {
    const range = new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end });
    highlights[kind].add(range);
    return { kind, range };
  });
  return () => added.forEach(({ kind, range }) => highlights[kind].delete(range));
}

// useHighlight colors the YAML or JSON in an element, whose only child is the text. The elements stay as they are, so that a
// megabyte is fast; a large text is colored after it is visible.
export function useHighlight(element: RefObject<HTMLElement | null>, text: string) {
  useEffect(() => {
    const node = element.current?.firstChild;
    if (!(node instanceof Text)) {
      return;
    }
    if (text.length < large) {
      return highlight(node);
    }
    let remove = () => {};
    let timer: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => {
        remove = highlight(node);
      }, 50);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      remove();
    };
  }, [element, text]);
}
