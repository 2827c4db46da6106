import { lazy, Suspense, useMemo, useState } from "react";
import { Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { Notice } from "../components/Notice";
import { Empty, Loading } from "../components/State";
import { ErrorFallback } from "./ErrorFallback";
import { outline, pagesOf } from "./outline";
import { Outline } from "./Outline";
import { texts } from "../text";
import type { Previewed } from "./preview";

const words = texts.playground.form;

const TryForm = lazy(() => import("./TryForm"));

// FormView shows the generated form, interactive or as an outline.
export function FormView({ definition }: { definition: Previewed }) {
  const templates = definition.entities.filter((e) => e.kind === "Template");
  const [name, setName] = useState<string>();
  const [asOutline, setAsOutline] = useState(false);
  const chosen = templates.find((e) => e.metadata?.name === name) ?? templates[0];
  // An unchanged form keeps its input, although every response is a new object. Its fields do not take the focus: the user
  // is typing in the editor.
  const text = JSON.stringify(pagesOf(chosen), (key, value: unknown) => (key === "ui:autofocus" ? undefined : value));
  const pages = useMemo(() => JSON.parse(text) as ReturnType<typeof pagesOf>, [text]);
  if (!chosen) {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  const list = pages.map((page, i) => <Outline key={i} section={outline(page, typeof page["title"] === "string" ? page["title"] : words.page(i + 1))} />);
  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-end">
        {templates.length > 1 && (
          <Select
            size="xs"
            label={words.template}
            data={templates.map((e) => ({ value: e.metadata?.name ?? "", label: e.metadata?.title ?? e.metadata?.name ?? "" }))}
            value={chosen.metadata?.name ?? ""}
            onChange={(value) => setName(value ?? undefined)}
            allowDeselect={false}
          />
        )}
        <SegmentedControl
          size="xs"
          aria-label={words.view}
          data={[
            { value: "form", label: words.form },
            { value: "outline", label: words.outline },
          ]}
          value={asOutline ? "outline" : "form"}
          onChange={(value) => setAsOutline(value === "outline")}
        />
      </Group>
      {chosen.metadata?.description && <Text size="sm">{chosen.metadata.description}</Text>}
      {asOutline ? (
        list
      ) : (
        <ErrorFallback
          of={text}
          instead={
            <>
              <Notice tone="warning" title={words.cannotShow}>
                {words.cannotShowHint}
              </Notice>
              {list}
            </>
          }
        >
          <Suspense fallback={<Loading label={words.loading} />}>
            <TryForm key={chosen.metadata?.name ?? ""} schemas={pages} />
          </Suspense>
        </ErrorFallback>
      )}
    </Stack>
  );
}
