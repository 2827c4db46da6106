import { useId, type KeyboardEvent } from "react";
import { Group, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import type { Run } from "../api/types";
import { duration } from "../components/Time";
import { keyOf, phases, stack, type Bar, type Phase } from "./plot";
import { texts } from "../text";
import { describe, shortSource } from "./labels";
import styles from "./Timeline.module.css";

const words = texts.ingestion.runs;

const height = 160;
const axis = 64;
// least is the minimum height of a bar, so that a quick run beside a slow one is visible.
const least = 3;

// Timeline draws runs as stacked bars of their phases. The arrow keys select the previous or next run; the table has the
// same numbers.
export function Timeline({ runs, selected, onSelect }: { runs: Run[]; selected?: Run; onSelect: (run: Run) => void }) {
  const { ref, width } = useElementSize();
  const id = useId();
  const inner = Math.max(0, width - axis - 4);
  const { bars, ticks } = stack(runs, { width: inner, height });
  const at = bars.findIndex((b) => selected && b.key === keyOf(selected));

  const step = (event: KeyboardEvent) => {
    const to = { ArrowLeft: at < 0 ? bars.length - 1 : at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
    const bar = to === undefined ? undefined : bars[to];
    if (to !== undefined) {
      event.preventDefault();
    }
    if (bar) {
      onSelect(bar.run);
    }
  };

  return (
    <div ref={ref}>
      {inner > 0 && (
        <svg
          className={styles.plot}
          width={width}
          height={height + 28}
          role="listbox"
          tabIndex={0}
          aria-label={words.newestLast}
          aria-activedescendant={at < 0 ? undefined : `${id}-${at}`}
          onKeyDown={step}
        >
          <g aria-hidden transform={`translate(${axis}, 6)`}>
            {ticks.map((t) => (
              <g key={t.y} transform={`translate(0, ${t.y})`}>
                <line className={styles.grid} x1={0} x2={inner} />
                <text className={styles.label} x={-8} dy="0.32em" textAnchor="end">
                  {duration(t.milliseconds)}
                </text>
              </g>
            ))}
          </g>
          <g role="presentation" transform={`translate(${axis}, 6)`}>
            {bars.map((b, i) => (
              <RunBar key={b.key} bar={b} id={`${id}-${i}`} selected={i === at} onSelect={() => onSelect(b.run)} />
            ))}
          </g>
          {bars.length > 0 && (
            <g aria-hidden transform={`translate(${axis}, ${height + 22})`} className={styles.label}>
              {bars.length > 6 && <text x={bars[0]!.x}>{clock(bars[0]!.run)}</text>}
              <text x={inner} textAnchor="end">
                {clock(bars.at(-1)!.run)}
              </text>
            </g>
          )}
        </svg>
      )}
      <Group gap="md" mt={4}>
        {phases.map((phase) => (
          <Group key={phase} gap={6} wrap="nowrap">
            <svg width={12} height={12} aria-hidden>
              <rect width={12} height={12} rx={2} className={styles[phase]} />
            </svg>
            <Text size="xs">{words.phases[phase]}</Text>
          </Group>
        ))}
        <Group gap={6} wrap="nowrap">
          <svg width={12} height={12} aria-hidden>
            <path d="M6 1l5 10H1z" className={styles.error} />
          </svg>
          <Text size="xs">{words.error}</Text>
        </Group>
      </Group>
    </div>
  );
}

function RunBar({ bar, id, selected, onSelect }: { bar: Bar; id: string; selected: boolean; onSelect: () => void }) {
  const { run } = bar;
  const middle = bar.x + bar.width / 2;
  const label = words.bar(clock(run), run.source ? shortSource(run.source) : words.watch, duration(run.milliseconds), [describe(run), run.error && words.endedWithError].filter(Boolean).join(" "));
  return (
    <g id={id} role="option" aria-selected={selected} aria-label={label} onClick={onSelect} className={styles.bar}>
      <title>{label}</title>
      {/* The hit area has the full height: bars may be very small. */}
      <rect x={bar.x - 1} y={0} width={bar.width + 2} height={height} className={selected ? styles.chosen : styles.field} />
      {height - bar.top < least ? (
        <rect x={bar.x} y={height - least} width={bar.width} height={least} className={styles[longest(bar)]} />
      ) : (
        bar.parts.map((p) => <rect key={p.phase} x={bar.x} y={Math.min(p.y, height - 1)} width={bar.width} height={Math.max(p.height, 0.75)} className={styles[p.phase]} />)
      )}
      {run.error && <path d={`M${middle} ${Math.max(bar.top - 12, 0)}l5 10h-10z`} className={styles.error} />}
    </g>
  );
}

// longest returns the longest phase.
function longest(bar: Bar): Phase {
  return bar.parts.reduce<Bar["parts"][number] | undefined>((a, b) => (a && a.milliseconds >= b.milliseconds ? a : b), undefined)?.phase ?? "rest";
}

function clock(run: Run): string {
  return new Date(run.started).toLocaleTimeString();
}
