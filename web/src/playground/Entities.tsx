import { Code, Stack, Text, Title } from "@mantine/core";
import { titleOf } from "../api/entity";
import { DataTable, type Column } from "../components/DataTable";
import { iconOf } from "../components/entityIcon";
import { IconText } from "../components/IconText";
import { Notice } from "../components/Notice";
import { Yaml } from "../components/Yaml";
import { origin } from "../entity/origin";
import { kindTitle } from "../entity/roles";
import { texts } from "../text";
import type { Previewed } from "./preview";
import styles from "./Playground.module.css";

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
      {definition.entities.length === 0 ? <Text size="sm">{words.none}</Text> : <List entities={definition.entities} />}
      <Yaml text={definition.yaml} label={words.yaml} file={`${fileName(definition.name)}.entities.yaml`} height={480} />
      {definition.values.length > 0 && (
        <Stack gap={4}>
          <Title order={2} size="h5">
            {words.values}
          </Title>
          <DataTable label={words.values} columns={columns} rows={definition.values} keyOf={(v) => v.field} />
        </Stack>
      )}
    </Stack>
  );
}

function List({ entities }: { entities: Previewed["entities"] }) {
  return (
    <ul className={styles.entities}>
      {entities.map((e, i) => (
        <li key={i}>
          <IconText icon={iconOf(e)}>
            {titleOf(e)}{" "}
            <Text component="span" size="xs" c="dimmed">
              {kindTitle(e)}
            </Text>
          </IconText>
        </li>
      ))}
    </ul>
  );
}

const columns: Column<Previewed["values"][number]>[] = [
  { title: words.field, cell: (v) => v.field, priority: "key" },
  { title: words.value, cell: (v) => v.value, width: "wide" },
  {
    title: words.source,
    cell: (v) => (
      <>
        {origin(v.from)} {v.key && <Code fz="xs">{v.key}</Code>}
      </>
    ),
  },
];

// fileName turns the untrusted name of a definition into a file name.
export function fileName(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]+/g, "-").replace(/^[.-]+|[.-]+$/g, "").slice(0, 80) || "definition";
}
