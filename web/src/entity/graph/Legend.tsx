import { Group, Text } from "@mantine/core";
import { Mark } from "./Mark";
import styles from "./Graph.module.css";

const help = "Dependencies are on the left. Use the arrow keys to move, Enter to open and + to expand.";

// Legend explains the marks and, if the graph is drawn, the keyboard.
export function Legend({ drawn, hint = help }: { drawn: boolean; hint?: string }) {
  return (
    <Group gap="lg" className={styles.legend}>
      {(["ready", "not ready", "unknown"] as const).map((readiness) => (
        <Group gap={6} key={readiness}>
          <Mark readiness={readiness} />
          <Text size="xs">{readiness}</Text>
        </Group>
      ))}
      {drawn && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </Group>
  );
}
