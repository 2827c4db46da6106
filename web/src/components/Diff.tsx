import { useMemo, useState } from "react";
import { Box, Button, Group, VisuallyHidden } from "@mantine/core";
import { diffLines, hunks, type Line } from "./diffLines";
import { texts } from "../text";
import styles from "./Diff.module.css";

const marks: Record<Line["what"], string> = { same: "  ", old: "- ", new: "+ " };
const words: Record<Line["what"], string> = { same: "", old: texts.components.diff.removed, new: texts.components.diff.added };

// most is the number of lines shown at first: a file may have a hundred thousand.
const most = 1_000;

// Diff shows the line diff of two texts with some context.
export function Diff({ before, after, label, height = 420 }: { before?: string; after?: string; label: string; height?: number }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const [whole, setWhole] = useState(false);
  const shown = useMemo(() => (whole ? [{ lines, skipped: 0 }] : hunks(lines)), [lines, whole]);
  const skips = shown.some((p) => p.skipped > 0);
  let room = whole ? Infinity : most;
  const rest = lines.length - most;
  return (
    <>
      <Box className={styles.view} mah={height} tabIndex={0} role="region" aria-label={label}>
        <div className={styles.lines}>
          {shown.map((part, i) => {
            if (part.skipped > 0) {
              return <span key={i} className={styles.gap}>{texts.components.diff.unchanged(part.skipped)}</span>;
            }
            const some = part.lines.slice(0, Math.max(0, room));
            room -= part.lines.length;
            return some.map((line, j) => (
              <code key={`${i}-${j}`} className={styles[line.what]}>
                {line.what !== "same" && <VisuallyHidden>{words[line.what]}</VisuallyHidden>}
                <span aria-hidden={line.what !== "same"}>{marks[line.what]}</span>
                {line.text}
              </code>
            ));
          })}
        </div>
      </Box>
      {(skips || (!whole && rest > 0)) && (
        <Group mt={4}>
          <Button size="xs" variant="subtle" onClick={() => setWhole(true)}>
            {texts.components.diff.showAll}
          </Button>
        </Group>
      )}
    </>
  );
}
