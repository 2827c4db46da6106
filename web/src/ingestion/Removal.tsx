import { useState } from "react";
import { Button, Group, Stack, Text } from "@mantine/core";
import type { Access } from "../app/permission";
import { Notice } from "../components/Notice";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { ErrorAlert } from "../components/State";
import { Time } from "../components/Time";
import { texts } from "../text";
import { type Source, useConfirm } from "./queries";

const words = texts.ingestion.removal;

// Removal shows a pending mass removal and lets the user confirm it. It takes two clicks, because it removes entities.
export function Removal({ source, access }: { source: Source; access?: Access }) {
  const confirm = useConfirm();
  const [sure, setSure] = useState(false);
  const pending = source.pendingRemoval;
  if (!pending) {
    return null;
  }
  return (
    <Notice tone="warning" title={words.title(pending.objects, pending.of)}>
      <Stack gap="xs">
        <Text size="sm">
          {words.since} <Time at={pending.since} />. {words.why} <Time at={pending.until} />. {words.check}
        </Text>
        {access && (
          <PermissionTooltip access={access}>
            <Group gap="xs">
              {sure && (
                <Button size="compact-sm" variant="default" onClick={() => setSure(false)}>
                  {words.cancel}
                </Button>
              )}
              <Button
                size="compact-sm"
                color="danger"
                variant={sure ? "filled" : "outline"}
                disabled={!access.allowed}
                loading={confirm.isPending}
                onClick={() => (sure ? confirm.mutate(source) : setSure(true))}
              >
                {sure ? words.remove(pending.objects) : words.confirm}
              </Button>
            </Group>
          </PermissionTooltip>
        )}
        <div role="status">{confirm.isSuccess && <Text size="sm">{words.confirmed}</Text>}</div>
        {confirm.isError && <ErrorAlert error={confirm.error} title={words.failed} />}
      </Stack>
    </Notice>
  );
}
