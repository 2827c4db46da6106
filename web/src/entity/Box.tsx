import type { ReactNode } from "react";
import { Paper, Stack, Title } from "@mantine/core";

// Box is a section with a heading.
export function Box({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}
