import { useMemo, useState } from "react";
import { Button, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { Icon } from "../components/Icon";
import { PageForm } from "../create/form/PageForm";
import { carryOver, withDefaults, type Page } from "../create/form/pages";
import type { Schema, Values } from "../create/form/types";
import { texts } from "../text";

const words = texts.playground.form;

const id = "playground-form";

// TryForm is the generated form without submission. Input that is still valid survives changes of the definition.
export default function TryForm({ schemas }: { schemas: Schema[] }) {
  const pages = useMemo<Page[]>(
    () => schemas.map((schema, i) => ({ title: typeof schema["title"] === "string" ? schema["title"] : words.page(i + 1), schema })),
    [schemas],
  );
  const [of, setOf] = useState(pages);
  const [values, setValues] = useState<Values>(() => withDefaults(pages, {}));
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [at, setAt] = useState(0);
  const [fits, setFits] = useState(false);
  let now = values;
  if (of !== pages) {
    // Apply the new defaults and keep the user's input.
    const before = withDefaults(of, {});
    const mine = Object.fromEntries(Object.entries(values).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])));
    now = withDefaults(pages, carryOver(pages, mine).values);
    setOf(pages);
    setValues(now);
    setFits(false);
  }
  const index = Math.min(at, pages.length - 1);
  const page = pages[index];
  if (!page) {
    return <Text size="sm">{words.noPages}</Text>;
  }
  const go = (to: number) => {
    setAt(to);
    setFits(false);
  };
  return (
    <Stack gap="md">
      {pages.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={words.pages}
          data={pages.map((p, i) => ({ value: String(i), label: words.pageTitle(i + 1, p.title) }))}
          value={String(index)}
          onChange={(value) => go(Number(value))}
        />
      )}
      <PageForm
        key={index}
        id={id}
        page={page.schema}
        values={now}
        secrets={secrets}
        problems={none}
        onChange={(next) => {
          setValues(next);
          setFits(false);
        }}
        onSecret={(name, value) => setSecrets((old) => ({ ...old, [name]: value }))}
        onDone={() => (index < pages.length - 1 ? go(index + 1) : setFits(true))}
      />
      <Group>
        <Button type="submit" form={id} size="xs" variant="default" leftSection={<Icon name="check" size={14} />}>
          {index < pages.length - 1 ? words.validateAndContinue : words.validate}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {fits ? words.valid : ""}
        </Text>
      </Group>
    </Stack>
  );
}

// The server does not validate these values.
const none: never[] = [];
