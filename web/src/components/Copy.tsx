import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Icon } from "./Icon";

// Copy is a button that copies a text to the clipboard. The text can be computed on click.
export function Copy({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const clipboard = useClipboard({ timeout: 2000 });
  const said = clipboard.error ? "Copy failed: select the text instead" : clipboard.copied ? "Copied" : label;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Icon name={clipboard.copied ? "check" : "copy"} size={14} />}
      onClick={() => clipboard.copy(typeof text === "string" ? text : text())}
      aria-live="polite"
    >
      {said}
    </Button>
  );
}
