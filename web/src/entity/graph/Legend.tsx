import { Group, Text } from "@mantine/core";
import { Mark } from "./Mark";
import styles from "./Graph.module.css";

// Legend says what the marks mean, and how to get about.
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
          What is needed stands on the left of what needs it. Arrows go from one to the next, Enter opens, + shows what is around it.
        </Text>
      )}
    </Group>
  );
}
