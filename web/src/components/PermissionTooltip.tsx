import type { ReactElement } from "react";
import { Box, Tooltip } from "@mantine/core";
import type { Access } from "../app/permission";

// PermissionTooltip explains why a control is disabled, on hover and on keyboard focus. The caller disables the control:
// disabled={!access.allowed}.
export function PermissionTooltip({ access, children }: { access: Access; children: ReactElement }) {
  if (access.allowed || !access.reason) {
    return children;
  }
  return (
    <Tooltip label={access.reason} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      <Box component="span" tabIndex={0} role="note" aria-label={access.reason} display="inline-block">
        {children}
      </Box>
    </Tooltip>
  );
}
