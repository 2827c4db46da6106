import { Code, Group, Stack, Text, Title } from "@mantine/core";
import { texts } from "../text";
import type { Section } from "./outline";
import styles from "./Outline.module.css";

const words = texts.playground.outline;

// Outline shows the fields of a schema as an indented list.
export function Outline({ section }: { section: Section }) {
  return (
    <Stack gap={4} component="section" aria-label={section.title}>
      <Title order={2} size="h5">
        {section.title}
      </Title>
      <ul className={styles.list}>
        {section.fields.map((f) => (
          <li key={f.key} className={styles.field} style={{ marginInlineStart: f.depth * 20 }}>
            <Group gap={8} align="baseline">
              <Text size="sm" fw={600} component="span">
                {f.title || f.name}
              </Text>
              {f.title !== "" && f.title !== f.name && <Code fz="xs">{f.name}</Code>}
              <Text size="xs" c="dimmed" component="span">
                {f.type}
                {f.required ? words.required : ""}
              </Text>
            </Group>
            {f.description && <Text size="sm">{f.description}</Text>}
            {f.notes.length > 0 && (
              <Text size="xs" c="dimmed">
                {f.notes.join(" · ")}
              </Text>
            )}
          </li>
        ))}
      </ul>
      {section.left > 0 && (
        <Text size="sm" c="dimmed">
          {words.more(section.left)}
        </Text>
      )}
    </Stack>
  );
}
