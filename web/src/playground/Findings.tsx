import { Stack, Text } from "@mantine/core";
import { FindingList } from "../components/FindingList";
import { Empty } from "../components/State";
import { texts } from "../text";
import type { Finding, Preview } from "./preview";

const words = texts.playground.findings;

// Findings lists the findings. Those with a line link to it.
export function Findings({ findings, passed, onGo }: { findings: Finding[]; passed: Preview["passed"]; onGo: (f: Finding) => void }) {
  if (findings.length === 0 && passed.length === 0) {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  return (
    <Stack gap="xs">
      <FindingList label={words.label} items={findings} onGo={onGo} />
      {passed.map((p) => (
        <Text key={`${p.apiVersion} ${p.kind} ${p.why ?? ""}`} size="sm" c="dimmed">
          {words.ignored(p.count, p.kind, p.apiVersion, p.why || words.ignoredWhy)}
        </Text>
      ))}
    </Stack>
  );
}
