import { lazy, Suspense, useState } from "react";
import { Select, Stack } from "@mantine/core";
import type { Entity } from "../api/types";
import { Empty, Loading } from "../components/State";
import { texts } from "../text";
import type { Previewed } from "./preview";

const words = texts.playground.api;

const ApiTab = lazy(() => import("../entity/document/ApiTab"));

// Api shows the API document of a definition, as on the page of its entity.
export function Api({ definition }: { definition: Previewed }) {
  const apis = definition.entities.filter((e) => e.kind === "API");
  const [name, setName] = useState<string>();
  const chosen = apis.find((e) => e.metadata?.name === name) ?? apis[0];
  if (!chosen) {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  return (
    <Stack gap="md">
      {apis.length > 1 && (
        <Select
          label={words.version}
          data={apis.map((e) => ({ value: e.metadata?.name ?? "", label: e.metadata?.title ?? e.metadata?.name ?? "" }))}
          value={chosen.metadata?.name ?? ""}
          onChange={(value) => setName(value ?? undefined)}
          allowDeselect={false}
        />
      )}
      <Suspense fallback={<Loading label={words.loading} />}>
        <ApiTab entity={chosen as Entity} />
      </Suspense>
    </Stack>
  );
}
