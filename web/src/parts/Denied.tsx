import type { ReactElement } from "react";
import { Box, Tooltip } from "@mantine/core";
import type { May } from "../app/may";

// Denied stands around a control that is not offered, and says why to whoever points at it or reaches it by keyboard.
// The control itself is disabled by who makes it: disabled={!may.allowed}.
export function Denied({ may, children }: { may: May; children: ReactElement }) {
  if (may.allowed || !may.why) {
    return children;
  }
  return (
    <Tooltip label={may.why} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      <Box component="span" tabIndex={0} role="note" aria-label={may.why} display="inline-block">
        {children}
      </Box>
    </Tooltip>
  );
}
