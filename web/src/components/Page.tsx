import { useEffect, type ReactNode } from "react";
import { Box, Group, Stack, Text, Title } from "@mantine/core";

// Page renders the heading, actions and content of a page and sets the title of the browser tab.
export function Page({ title, lead, actions, children }: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    const before = document.title;
    document.title = `${title} · ${before.split(" · ").at(-1)}`;
    return () => {
      document.title = before;
    };
  }, [title]);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} flex="1 1 240px">
          <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
            {title}
          </Title>
          {lead && (
            <Text c="dimmed" component="div">
              {lead}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
