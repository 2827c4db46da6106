import { Button } from "@mantine/core";
import { Icon } from "./Icon";
import { texts } from "../text";

// save downloads a text as a file.
export function save(name: string, text: string, type = "application/yaml") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the URL after the click event.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Download is a button that saves a text as a file. The text can be computed on click.
export function Download({ name, text, label = texts.components.download, type }: { name: string; text: string | (() => string); label?: string; type?: string }) {
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Icon name="download" size={14} />}
      onClick={() => save(name, typeof text === "string" ? text : text(), type)}
    >
      {label}
    </Button>
  );
}
