import { Group, Text } from "@mantine/core";
import { readinessTitle } from "../../api/readiness";
import { texts } from "../../text";
import { Mark } from "./Mark";
import styles from "./Graph.module.css";

const words = texts.entity.graph;

// Legend explains the marks and, if the graph is drawn, the keyboard.
export function Legend({ drawn, hint = words.help }: { drawn: boolean; hint?: string }) {
  return (
    <Group gap="lg" className={styles.legend}>
      {(["ready", "not ready", "unknown"] as const).map((readiness) => (
        <Group gap={6} key={readiness}>
          <Mark readiness={readiness} />
          <Text size="xs">{readinessTitle(readiness)}</Text>
        </Group>
      ))}
      {drawn && (
        <Text size="xs" c="dimmed" className={styles.hint}>
          {hint}
        </Text>
      )}
    </Group>
  );
}
