import { useState } from "react";
import { Button, Checkbox, Fieldset, Group, Stack, Text, TextInput } from "@mantine/core";
import { number, texts } from "../text";
import styles from "./Facet.module.css";

export type FacetValue = {
  value: string;
  // count is undefined for a value that can be chosen, but that nothing in the list has.
  count?: number;
  // rank is what the values are sorted by; by default their count.
  rank?: number;
};

// few is the number of values shown at first.
const few = 6;

// Facet is a list of checkboxes for the values of a field, with counts.
export function Facet({
  title,
  values,
  chosen,
  onChange,
  show = (value) => value,
  hint,
}: {
  title: string;
  values: FacetValue[] | undefined;
  chosen: string[];
  onChange: (chosen: string[]) => void;
  // show formats a value.
  show?: (value: string) => string;
  // hint explains a value without a count.
  hint?: string;
}) {
  const [all, setAll] = useState(false);
  const [text, setText] = useState("");
  const known = values ?? [];
  // Selected values are always shown, even with a count of zero: otherwise they could not be cleared.
  const missing = chosen.filter((c) => !known.some((v) => same(v.value, c))).map((value) => ({ value, count: 0 }));
  const sorted = [...missing, ...known].sort((a, b) => rankOf(b) - rankOf(a) || a.value.localeCompare(b.value));
  const found = text === "" ? sorted : sorted.filter((v) => show(v.value).toLowerCase().includes(text.toLowerCase()));
  const shown = all ? found.slice(0, 200) : found.filter((v, i) => i < few || chosen.some((c) => same(v.value, c)));
  if (sorted.length === 0) {
    return null;
  }
  return (
    <Fieldset legend={title} variant="unstyled" className={styles.facet}>
      <Stack gap={2}>
        {all && sorted.length > 12 && (
          <TextInput size="xs" value={text} onChange={(e) => setText(e.currentTarget.value)} placeholder={texts.components.facet.search} aria-label={texts.components.facet.searchIn(title)} />
        )}
        {shown.map((v) => {
          const on = chosen.some((c) => same(v.value, c));
          return (
            <Group key={v.value} justify="space-between" wrap="nowrap" gap="xs" align="flex-start" py={3}>
              <Checkbox
                size="xs"
                label={show(v.value)}
                title={v.count === undefined ? hint : undefined}
                checked={on}
                onChange={() => onChange(on ? chosen.filter((c) => !same(v.value, c)) : [...chosen, v.value])}
                classNames={{ label: styles.label ?? "", root: styles.box ?? "" }}
              />
              {v.count !== undefined && (
                <Text size="xs" c="dimmed" className={styles.count}>
                  {number(v.count)}
                </Text>
              )}
            </Group>
          );
        })}
        {all && found.length > 200 && (
          <Text size="xs" c="dimmed">
            {texts.components.facet.more(found.length - 200)}
          </Text>
        )}
        {sorted.length > few && (
          <Button size="compact-sm" fz="xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={() => setAll(!all)} className={styles.more} aria-expanded={all}>
            {all ? texts.components.facet.fewer(title) : texts.components.facet.all(sorted.length, title)}
          </Button>
        )}
      </Stack>
    </Fieldset>
  );
}

function rankOf(v: FacetValue): number {
  return v.rank ?? v.count ?? 0;
}

// same compares without case, as the catalog does.
function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
