import { useState } from "react";
import { Select, Stack, Text } from "@mantine/core";
import { Empty } from "../parts/State";
import { outline, pagesOf } from "./outline";
import { Outline } from "./Outline";
import type { Previewed } from "./preview";

// FormView shows the form that the definition makes.
export function FormView({ definition }: { definition: Previewed }) {
  const templates = definition.entities.filter((e) => e.kind === "Template");
  const [name, setName] = useState<string>();
  const chosen = templates.find((e) => e.metadata?.name === name) ?? templates[0];
  if (!chosen) {
    return <Empty title="No form">Nobody could create a resource of this definition; the findings say why.</Empty>;
  }
  const pages = pagesOf(chosen);
  return (
    <Stack gap="md">
      {templates.length > 1 && (
        <Select
          label="Template"
          data={templates.map((e) => ({ value: e.metadata?.name ?? "", label: e.metadata?.title ?? e.metadata?.name ?? "" }))}
          value={chosen.metadata?.name ?? ""}
          onChange={(value) => setName(value ?? undefined)}
          allowDeselect={false}
        />
      )}
      {chosen.metadata?.description && <Text size="sm">{chosen.metadata.description}</Text>}
      {pages.map((page, i) => (
        <Outline key={i} section={outline(page, typeof page["title"] === "string" ? page["title"] : `Page ${i + 1}`)} />
      ))}
    </Stack>
  );
}
