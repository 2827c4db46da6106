import { useMemo, useRef } from "react";
import { Box, Group, Stack } from "@mantine/core";
import { Copy } from "./Copy";
import { Download } from "./Download";
import { useHighlight } from "./useHighlight";
import styles from "./Yaml.module.css";

// Yaml shows a text with line numbers. It renders two text nodes only, so that a megabyte is fast.
export function Yaml({ text, label, file, height = 560 }: { text: string; label: string; file?: string; height?: number | string }) {
  const numbers = useMemo(() => {
    const count = text.replace(/\n$/, "").split("\n").length;
    return Array.from({ length: count }, (_, i) => i + 1).join("\n");
  }, [text]);
  const shown = useRef<HTMLPreElement>(null);
  useHighlight(shown, text);
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="flex-end">
        <Copy text={text} />
        {file && <Download name={file} text={text} />}
      </Group>
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
