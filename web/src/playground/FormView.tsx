import { lazy, Suspense, useMemo, useState } from "react";
import { Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { Warning } from "../entity/Warning";
import { Empty, Loading } from "../parts/State";
import { Guard } from "./Guard";
import { outline, pagesOf } from "./outline";
import { Outline } from "./Outline";
import type { Previewed } from "./preview";

const TryForm = lazy(() => import("./TryForm"));

// FormView shows the form that the definition makes: to be tried, or as an outline.
export function FormView({ definition }: { definition: Previewed }) {
  const templates = definition.entities.filter((e) => e.kind === "Template");
  const [name, setName] = useState<string>();
  const [asOutline, setAsOutline] = useState(false);
  const chosen = templates.find((e) => e.metadata?.name === name) ?? templates[0];
  // A form that is the same as before keeps what was filled in, although every answer is a new one. None of its fields takes
  // the focus by itself: somebody is typing in the editor.
  const text = JSON.stringify(pagesOf(chosen), (key, value: unknown) => (key === "ui:autofocus" ? undefined : value));
  const pages = useMemo(() => JSON.parse(text) as ReturnType<typeof pagesOf>, [text]);
  if (!chosen) {
    return <Empty title="No form">Nobody could create a resource of this definition; the findings say why.</Empty>;
  }
  const list = pages.map((page, i) => <Outline key={i} section={outline(page, typeof page["title"] === "string" ? page["title"] : `Page ${i + 1}`)} />);
  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-end">
        {templates.length > 1 && (
          <Select
            size="xs"
            label="Template"
            data={templates.map((e) => ({ value: e.metadata?.name ?? "", label: e.metadata?.title ?? e.metadata?.name ?? "" }))}
            value={chosen.metadata?.name ?? ""}
            onChange={(value) => setName(value ?? undefined)}
            allowDeselect={false}
          />
        )}
        <SegmentedControl
          size="xs"
          aria-label="Show the form as"
          data={[
            { value: "form", label: "Form" },
            { value: "outline", label: "Outline" },
          ]}
          value={asOutline ? "outline" : "form"}
          onChange={(value) => setAsOutline(value === "outline")}
        />
      </Group>
      {chosen.metadata?.description && <Text size="sm">{chosen.metadata.description}</Text>}
      {asOutline ? (
        list
      ) : (
        <Guard
          of={text}
          instead={
            <>
              <Warning title="The form cannot be shown">
                Its schema is more than the form can draw; the outline below shows what is in it, and the findings what to mend.
              </Warning>
              {list}
            </>
          }
        >
          <Suspense fallback={<Loading label="Loading the form" />}>
            <TryForm key={chosen.metadata?.name ?? ""} schemas={pages} />
          </Suspense>
        </Guard>
      )}
    </Stack>
  );
}
