import type { ReactNode } from "react";
import { Button, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { ApiError } from "../api/client";
import { Icon } from "./Icon";
import { Notice } from "./Notice";
import { texts } from "../text";

// Loading is a placeholder while data loads.
export function Loading({ label = texts.components.loading, lines = 4 }: { label?: string; lines?: number }) {
  return (
    <Stack gap="sm" role="status" aria-live="polite">
      <VisuallyHidden>{label}</VisuallyHidden>
      {Array.from({ length: lines }, (_, i) => (
        <Skeleton key={i} height={i === 0 ? 28 : 18} width={i === 0 ? "40%" : `${95 - ((i * 17) % 40)}%`} aria-hidden />
      ))}
    </Stack>
  );
}

// Empty is an empty state with a hint.
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Stack gap="xs" align="center" py="xl" px="md" ta="center">
      <Icon name="empty" size={36} />
      <Text fw={600}>{title}</Text>
      {children && (
        <Text c="dimmed" component="div" maw={520}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}

// ErrorAlert shows an error with a retry button.
export function ErrorAlert({ error, title, retry }: { error: unknown; title?: string; retry?: () => void }) {
  return (
    <Notice tone="error" title={title ?? titleFor(error)} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {messageOf(error)}
        </Text>
        {retry && (
          <Group>
            <Button size="xs" variant="default" onClick={() => retry()}>
              {texts.components.retry}
            </Button>
          </Group>
        )}
      </Stack>
    </Notice>
  );
}

// messageOf returns the message of an error for users.
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) {
    return texts.components.error.ended;
  }
  return error instanceof Error ? error.message : String(error);
}

function titleFor(error: unknown): string {
  const titles = texts.components.error;
  if (!(error instanceof ApiError)) {
    return titles.other;
  }
  return error.status === 0 ? titles.offline : ((titles as Record<string, string>)[error.status] ?? titles.other);
}
