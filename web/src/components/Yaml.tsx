import { useMemo, useRef, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Box, Group, Stack } from "@mantine/core";
import { Copy } from "./Copy";
import { Download } from "./Download";
import { useHighlight } from "./useHighlight";
import styles from "./Yaml.module.css";

type Props = {
  text: string;
  // label names the text for screen readers.
  label: string;
  // file is the name of the downloaded file; without it, there is no download.
  file?: string;
  height?: number | string;
  // left is shown at the start of the bar above the text, such as a title; actions are further buttons of the bar.
  left?: ReactNode;
  actions?: ReactNode;
  // into is an element that shows the bar instead, null until it is there.
  into?: HTMLElement | null;
};

// Yaml shows a text with line numbers, and a bar above it. It renders two text nodes only, so that a megabyte is fast.
export function Yaml({ text, label, file, height = 560, left, actions, into }: Props) {
  const numbers = useMemo(() => {
    const count = text.replace(/\n$/, "").split("\n").length;
    return Array.from({ length: count }, (_, i) => i + 1).join("\n");
  }, [text]);
  const shown = useRef<HTMLPreElement>(null);
  useHighlight(shown, text);
  const bar = (
    <div className={styles.bar}>
      <div className={styles.left}>{left}</div>
      <Group gap="xs">
        {actions}
        <Copy text={text} />
        {file && <Download name={file} text={text} />}
      </Group>
    </div>
  );
  return (
    <Stack gap="xs">
      {into === undefined ? bar : into && createPortal(bar, into)}
      <Box className={styles.view} mah={height} tabIndex={0} role="region" aria-label={label}>
        <pre className={styles.numbers} aria-hidden>
          {numbers}
        </pre>
        <pre ref={shown} className={styles.text}>
          {text}
        </pre>
      </Box>
    </Stack>
  );
}

// CodeSample is a short YAML or JSON text without line numbers.
export function CodeSample({ text, label }: { text: string; label: string }) {
  const shown = useRef<HTMLPreElement>(null);
  useHighlight(shown, text);
  return (
    <Box className={styles.view} mah={420} tabIndex={0} role="region" aria-label={label}>
      <pre ref={shown} className={styles.text}>
        {text}
      </pre>
    </Box>
  );
}
