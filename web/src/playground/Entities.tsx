import { Stack, Table, Text, Title } from "@mantine/core";
import { Notice } from "../components/Notice";
import { Yaml } from "../components/Yaml";
import { texts } from "../text";
import type { Previewed } from "./preview";

const words = texts.playground.entities;

// Entities shows the generated entities: a list, the YAML, and where their values come from.
export function Entities({ definition }: { definition: Previewed }) {
  return (
    <Stack gap="md">
      {definition.withheld && definition.withheld.length > 0 && (
        <Notice tone="warning" title={words.withheld}>
          {words.withheldHint(definition.withheld.join(", "))}
        </Notice>
      )}
      <Text size="sm">
        {definition.entities.map((e) => `${e.kind ?? "?"} ${e.metadata?.title ?? e.metadata?.name ?? ""}`).join(" · ") || words.none}
      </Text>
      <Yaml text={definition.yaml} label={words.yaml} file={`${fileName(definition.name)}.entities.yaml`} height={480} />
      {definition.values.length > 0 && (
        <Stack gap={4}>
          <Title order={2} size="h5">
            {words.values}
          </Title>
          <Table.ScrollContainer minWidth={360} scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "region", "aria-label": words.values } }}>
            <Table withRowBorders>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{words.field}</Table.Th>
                  <Table.Th>{words.value}</Table.Th>
                  <Table.Th>{words.source}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {definition.values.map((v) => (
                  <Table.Tr key={v.field}>
                    <Table.Td>{v.field}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{v.value}</Table.Td>
                    <Table.Td>
                      {v.from}
                      {v.key ? ` ${v.key}` : ""}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Stack>
      )}
    </Stack>
  );
}

// fileName turns the untrusted name of a definition into a file name.
export function fileName(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]+/g, "-").replace(/^[.-]+|[.-]+$/g, "").slice(0, 80) || "definition";
}
