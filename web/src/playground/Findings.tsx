import { Stack, Text, UnstyledButton } from "@mantine/core";
import { Empty } from "../components/State";
import { Tag, type Tone } from "../components/Tag";
import type { Finding, Preview } from "./preview";
import styles from "./Findings.module.css";

const tones: Record<Finding["severity"], Tone> = { error: "error", warning: "warning", info: "plain" };

// Findings lists the findings. Those with a line link to it.
export function Findings({ findings, passed, onGo }: { findings: Finding[]; passed: Preview["passed"]; onGo: (f: Finding) => void }) {
  if (findings.length === 0 && passed.length === 0) {
    return <Empty title="No findings">The definition passed all checks.</Empty>;
  }
  return (
    <Stack gap="xs">
      <ul className={styles.list} aria-label="Findings">
        {findings.map((f, i) => (
          <li key={`${i} ${f.rule}`}>
            <UnstyledButton className={styles.finding} disabled={f.line === undefined} onClick={() => onGo(f)}>
              <span className={styles.head}>
                <Tag tone={tones[f.severity]}>{f.severity}</Tag>
                <Text component="span" size="sm" ff="monospace">
                  {f.rule}
                </Text>
                {f.line !== undefined && (
                  <Text component="span" size="sm" c="dimmed">
                    line {f.line}
                  </Text>
                )}
              </span>
              <Text size="sm">{f.message}</Text>
              {f.hint && (
                <Text size="sm" c="dimmed">
                  {f.hint}
                </Text>
              )}
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {passed.map((p) => (
        <Text key={`${p.apiVersion} ${p.kind} ${p.why ?? ""}`} size="sm" c="dimmed">
          {p.count === 1 ? "1 object" : `${p.count} objects`} of kind {p.kind} ({p.apiVersion}) ignored:{" "}
          {p.why || "only definitions, Compositions and composites are processed"}.
        </Text>
      ))}
    </Stack>
  );
}
