import { Stack, Text, UnstyledButton } from "@mantine/core";
import { Empty } from "../components/State";
import { Tag, type Tone } from "../components/Tag";
import { texts } from "../text";
import type { Finding, Preview } from "./preview";
import styles from "./Findings.module.css";

const words = texts.playground.findings;

const tones: Record<Finding["severity"], Tone> = { error: "error", warning: "warning", info: "plain" };

// Findings lists the findings. Those with a line link to it.
export function Findings({ findings, passed, onGo }: { findings: Finding[]; passed: Preview["passed"]; onGo: (f: Finding) => void }) {
  if (findings.length === 0 && passed.length === 0) {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  return (
    <Stack gap="xs">
      <ul className={styles.list} aria-label={words.label}>
        {findings.map((f, i) => (
          <li key={`${i} ${f.rule}`}>
            <UnstyledButton className={styles.finding} disabled={f.line === undefined} onClick={() => onGo(f)}>
              <span className={styles.head}>
                <Tag tone={tones[f.severity]}>{words.severity[f.severity]}</Tag>
                <Text component="span" size="sm" ff="monospace">
                  {f.rule}
                </Text>
                {f.line !== undefined && (
                  <Text component="span" size="sm" c="dimmed">
                    {words.line(f.line)}
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
          {words.ignored(p.count, p.kind, p.apiVersion, p.why || words.ignoredWhy)}
        </Text>
      ))}
    </Stack>
  );
}
