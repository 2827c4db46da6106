import { useState } from "react";
import { Button, Group, Stack, Text } from "@mantine/core";
import type { Schemas } from "../api/types";
import { FindingList, type Position } from "./FindingList";
import { Tag } from "./Tag";
import { texts } from "../text";

const words = texts.components.changes;

type Change = Schemas["DefinitionChange"];

// ChangeList shows what changes of a definition mean: how many are breaking, a list of those that need attention, and the
// compatible ones on demand. With onGo, changes link to their lines in the text.
export function ChangeList({ changes, onGo }: { changes: Change[]; onGo?: (at: Position) => void }) {
  const [open, setOpen] = useState(false);
  const by = (severity: Change["severity"]) => changes.filter((c) => c.severity === severity);
  const [breaking, warnings, compatible] = [by("error"), by("warning"), by("info")];
  return (
    <Stack gap="sm">
      <Group gap="xs" role="status">
        {breaking.length > 0 ? <Tag tone="error">{words.breaking(breaking.length)}</Tag> : <Tag tone="success">{words.noneBreaking}</Tag>}
        {warnings.length > 0 && <Tag tone="warning">{words.warnings(warnings.length)}</Tag>}
      </Group>
      <Items label={words.label} changes={[...breaking, ...warnings]} onGo={onGo} />
      {compatible.length > 0 && (
        <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
          <Text component="summary" size="sm" mb={open ? 8 : 0} style={{ cursor: "pointer" }}>
            {words.compatible(compatible.length)}
          </Text>
          {open && <Items label={words.compatibleLabel} changes={compatible} onGo={onGo} />}
        </details>
      )}
    </Stack>
  );
}

// step is how many changes are shown at first: a definition may have thousands.
const step = 50;

function Items({ label, changes, onGo }: { label: string; changes: Change[]; onGo?: (at: Position) => void }) {
  const [shown, setShown] = useState(step);
  if (changes.length === 0) {
    return null;
  }
  const left = changes.length - shown;
  const items = changes.slice(0, shown).map((c) => ({ ...c, subject: [c.version, c.field].filter(Boolean).join(" ") }));
  return (
    <Stack gap="xs" align="stretch">
      <FindingList label={label} items={items} severities={words.severity} onGo={onGo} />
      {left > 0 && (
        <Button size="xs" variant="default" style={{ alignSelf: "flex-start" }} onClick={() => setShown(shown + step)}>
          {words.more(Math.min(step, left), left)}
        </Button>
      )}
    </Stack>
  );
}
