import type { ReactNode } from "react";
import { Alert, Button, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { ApiError } from "../api/client";
import { Icon } from "./Icon";

// Loading is a placeholder while data loads.
export function Loading({ label = "Loading", lines = 4 }: { label?: string; lines?: number }) {
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
    <Alert color="red" variant="outline" icon={<Icon name="warning" />} title={title ?? titleFor(error)} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {messageOf(error)}
        </Text>
        {retry && (
          <Group>
            <Button size="xs" variant="default" onClick={() => retry()}>
              Retry
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

// messageOf returns the message of an error for users.
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function titleFor(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return "Something went wrong";
  }
  switch (error.status) {
    case 0:
      return "No connection to the portal";
    case 401:
      return "Sign-in required";
    case 403:
      return "Permission denied";
    case 404:
      return "Not found";
    case 429:
      return "Too many requests";
    case 503:
      return "Temporarily unavailable";
  }
  return "Something went wrong";
}
