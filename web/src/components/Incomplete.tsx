import { List } from "@mantine/core";
import { Notice } from "./Notice";

// Incomplete warns that some data could not be read, with a line for each reason.
export function Incomplete({ title, lines }: { title: string; lines: string[] }) {
  return (
    <Notice tone="warning" title={title}>
      <List size="sm">
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </Notice>
  );
}
