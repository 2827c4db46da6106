import { Stack, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import type { Run } from "../api/types";
import { duration, Time } from "../components/Time";
import { Changes } from "./Changes";
import { shares } from "./plot";
import { changes, describe, sentence, shortSource, triggers } from "./labels";
import { Notice } from "../components/Notice";
import { texts } from "../text";
import styles from "./Timeline.module.css";

const words = texts.ingestion.runs;

// RunDetails shows the result of one run.
export function RunDetails({ run }: { run: Run }) {
  const { ref, width } = useElementSize();
  return (
    <Stack gap="xs" ref={ref} data-testid="run">
      <Text size="sm" c="dimmed">
        {run.source ? words.ofSource(sentence(triggers[run.trigger]), shortSource(run.source)) : words.watchEvent}, <Time at={run.started} />, {duration(run.milliseconds)}
      </Text>
      <Text size="sm">
        {run.source && words.found(run.discovered, run.changed)} {describe(run)}
      </Text>
      {width > 0 && changes.filter((key) => run[key] > 0).length > 1 && (
        <svg width={width} height={10} aria-hidden>
          {shares(changes.map((key) => ({ key, count: run[key] })), width).map((s) => (
            <rect key={s.key} x={s.x} width={Math.max(1, s.width - 1)} height={10} className={styles[s.key]} />
          ))}
        </svg>
      )}
      <Changes run={run} />
      {run.refused > 0 && (
        <Text size="sm" c="dimmed">
          {words.refusedHint}
        </Text>
      )}
      {run.error && (
        <Notice tone="error" title={words.errorTitle}>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {run.error}
          </Text>
        </Notice>
      )}
    </Stack>
  );
}
