import { Group, Text } from "@mantine/core";
import { Mark } from "./Mark";
import styles from "./Graph.module.css";

// Legend explains the marks and the keyboard.
export function Legend({ drawn }: { drawn: boolean }) {
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
          Dependencies are on the left. Use the arrow keys to move, Enter to open and + to expand.
        </Text>
      )}
    </Group>
  );
}
