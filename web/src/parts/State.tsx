import type { ReactNode } from "react";
import { Alert, Button, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { ApiError } from "../api/client";
import { Icon } from "./Icon";

// Loading stands where something will be.
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

// Empty says that there is nothing, and what to do about it.
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

// Failed says what went wrong, and lets one try again.
export function Failed({ error, title, retry }: { error: unknown; title?: string; retry?: () => void }) {
  return (
    <Alert color="red" variant="outline" icon={<Icon name="warning" />} title={title ?? titleFor(error)} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {messageOf(error)}
        </Text>
        {retry && (
          <Group>
            <Button size="xs" variant="default" onClick={() => retry()}>
              Try again
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

// messageOf is what an error says to people.
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function titleFor(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return "That did not work";
  }
  switch (error.status) {
    case 0:
      return "The portal does not answer";
    case 401:
      return "Sign in first";
    case 403:
      return "You may not do this";
    case 404:
      return "Not found";
    case 429:
      return "Too many requests";
    case 503:
      return "Not available right now";
  }
  return "That did not work";
}
