import { Alert, Stack, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import type { Run } from "../api/types";
import { duration, Time } from "../parts/Time";
import { Changes } from "./Changes";
import { shares } from "./plot";
import { changes, describe, sentence, shortSource, triggers } from "./words";
import styles from "./Timeline.module.css";

// RunDetails says what one run did.
export function RunDetails({ run }: { run: Run }) {
  const { ref, width } = useElementSize();
  return (
    <Stack gap="xs" ref={ref} data-testid="run">
      <Text size="sm" c="dimmed">
        {run.source ? `${sentence(triggers[run.trigger])}: ${shortSource(run.source)}` : "Brought in by a watch"}, <Time at={run.started} />, {duration(run.milliseconds)}
      </Text>
      <Text size="sm">
        {run.source && `${run.discovered === 1 ? "One definition" : `${run.discovered} definitions`} found, ${run.changed} to look at. `}
        {describe(run)}
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
          Refused are entities of a name that somebody else has in the catalog; theirs stay.
        </Text>
      )}
      {run.error && (
        <Alert color="red" variant="outline" title="What went wrong">
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {run.error}
          </Text>
        </Alert>
      )}
    </Stack>
  );
}
