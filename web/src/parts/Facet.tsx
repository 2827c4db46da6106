import { useState } from "react";
import { Button, Checkbox, Fieldset, Group, Stack, Text, TextInput } from "@mantine/core";
import styles from "./Facet.module.css";

export type FacetValue = { value: string; count: number };

// few is how many values are shown at first.
const few = 6;

// Facet lets one choose values of a field, and says how many there are of each.
export function Facet({
  title,
  values,
  chosen,
  onChange,
  show = (value) => value,
}: {
  title: string;
  values: FacetValue[] | undefined;
  chosen: string[];
  onChange: (chosen: string[]) => void;
  // show is how a value is written.
  show?: (value: string) => string;
}) {
  const [all, setAll] = useState(false);
  const [text, setText] = useState("");
  const known = values ?? [];
  // What is chosen is always shown, even where nothing has it any more: otherwise it could not be unchosen.
  const missing = chosen.filter((c) => !known.some((v) => same(v.value, c))).map((value) => ({ value, count: 0 }));
  const sorted = [...missing, ...known].sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
  const found = text === "" ? sorted : sorted.filter((v) => show(v.value).toLowerCase().includes(text.toLowerCase()));
  const shown = all ? found.slice(0, 200) : found.filter((v, i) => i < few || chosen.some((c) => same(v.value, c)));
  if (sorted.length === 0) {
    return null;
  }
  return (
    <Fieldset legend={title} variant="unstyled" className={styles.facet}>
      <Stack gap={2}>
        {all && sorted.length > 12 && (
          <TextInput size="xs" value={text} onChange={(e) => setText(e.currentTarget.value)} placeholder="Find" aria-label={`Find in ${title}`} />
        )}
        {shown.map((v) => {
          const on = chosen.some((c) => same(v.value, c));
          return (
            <Group key={v.value} justify="space-between" wrap="nowrap" gap="xs" align="flex-start" py={3}>
              <Checkbox
                size="xs"
                label={show(v.value)}
                checked={on}
                onChange={() => onChange(on ? chosen.filter((c) => !same(v.value, c)) : [...chosen, v.value])}
                classNames={{ label: styles.label ?? "", root: styles.box ?? "" }}
              />
              <Text size="xs" c="dimmed" className={styles.count}>
                {v.count.toLocaleString("en")}
              </Text>
            </Group>
          );
        })}
        {all && found.length > 200 && (
          <Text size="xs" c="dimmed">
            {`and ${found.length - 200} more: write above to find them`}
          </Text>
        )}
        {sorted.length > few && (
          <Button size="compact-sm" fz="xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={() => setAll(!all)} className={styles.more} aria-expanded={all}>
            {all ? `Fewer of ${title.toLowerCase()}` : `All ${sorted.length} of ${title.toLowerCase()}`}
          </Button>
        )}
      </Stack>
    </Fieldset>
  );
}

// same compares as the catalog does.
function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
