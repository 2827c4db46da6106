import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Icon } from "./Icon";
import { texts } from "../text";

// Copy is a button that copies a text to the clipboard. The text can be computed on click.
export function Copy({ text, label = texts.components.copy }: { text: string | (() => string); label?: string }) {
  const clipboard = useClipboard({ timeout: 2000 });
  const said = clipboard.error ? texts.components.copyFailed : clipboard.copied ? texts.components.copied : label;
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
