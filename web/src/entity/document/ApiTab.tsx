import { useMemo, useState } from "react";
import { Box, Group, Paper, SegmentedControl, Stack, Text, TextInput, Title, UnstyledButton } from "@mantine/core";
import { specText } from "../../api/entity";
import type { Entity } from "../../api/types";
import { Icon } from "../../components/Icon";
import { Empty } from "../../components/State";
import { Tag } from "../../components/Tag";
import { Yaml } from "../../components/Yaml";
import { Notice } from "../../components/Notice";
import { texts } from "../../text";
import { yamlHeight } from "../yamlHeight";
import { operationsOf } from "./operations";
import { OperationItem } from "./OperationItem";
import { readDocument } from "./read";
import { isObject, text } from "./schema";
import { SchemaTree } from "./SchemaTree";
import styles from "./Document.module.css";

const words = texts.entity.document;

// ApiTab shows an OpenAPI document. It does not send requests to the API.
export default function ApiTab({ entity }: { entity: Entity }) {
  const source = specText(entity, "definition");
  const [view, setView] = useState("read");
  const [bar, setBar] = useState<HTMLElement | null>(null);
  const read = useMemo(() => readDocument(source), [source]);
  if (source === "") {
    return <Empty title={words.none}>{words.noneHint}</Empty>;
  }
  const shown = read.document !== undefined ? view : "text";
  return (
    <Stack gap="md">
      {read.problem && <Notice tone="warning" title={words.noPreview}>{read.problem}</Notice>}
      {read.document !== undefined && (
        <Group>
          <SegmentedControl
            value={view}
            onChange={setView}
            data={[
              { value: "read", label: words.preview },
              { value: "text", label: words.raw },
            ]}
            aria-label={words.view}
          />
          <Box ref={setBar} flex={1} />
        </Group>
      )}
      {shown === "read" ? (
        <Reading document={read.document} />
      ) : (
        <Yaml text={source} label={words.label} file={`${entity.metadata.name}.yaml`} height={yamlHeight} into={read.document === undefined ? undefined : bar} />
      )}
    </Stack>
  );
}

// few is the number of operations to list; the search finds the others.
const few = 100;

function Reading({ document }: { document: unknown }) {
  const operations = useMemo(() => operationsOf(document), [document]);
  const [asked, setAsked] = useState("");
  const info = isObject(document) && isObject(document["info"]) ? document["info"] : {};
  const term = asked.trim().toLowerCase();
  const found = term === "" ? operations : operations.filter((o) => `${o.method} ${o.path} ${o.summary}`.toLowerCase().includes(term));
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Group gap="xs">
          <Title order={2} size="h4">
            {text(info["title"]) || words.api}
          </Title>
          {text(info["version"]) !== "" && <Tag>{text(info["version"])}</Tag>}
        </Group>
        {text(info["description"]) !== "" && <Text className={styles.text}>{text(info["description"])}</Text>}
      </Stack>
      <Stack gap="xs">
        <Title order={3} size="h5">
          {words.operations(operations.length)}
        </Title>
        {operations.length > 8 && (
          <TextInput value={asked} onChange={(e) => setAsked(e.currentTarget.value)} label={words.find} placeholder={words.findHint} maw={360} />
        )}
        {operations.length === 0 && <Text size="sm">{words.noOperations}</Text>}
        {operations.length > 0 && found.length === 0 && <Text size="sm">{words.noResults}</Text>}
        {found.slice(0, few).map((o) => (
          <OperationItem key={o.key} document={document} operation={o} first={operations.length === 1} />
        ))}
        {found.length > few && <Text size="sm" c="dimmed">{words.moreOperations(found.length - few)}</Text>}
      </Stack>
      <Schemas document={document} />
    </Stack>
  );
}

function Schemas({ document }: { document: unknown }) {
  const components = isObject(document) && isObject(document["components"]) ? document["components"] : {};
  // OpenAPI 2 documents have them at the top level.
  const named = isObject(components["schemas"]) ? components["schemas"] : isObject(document) && isObject(document["definitions"]) ? document["definitions"] : {};
  const names = Object.keys(named);
  if (names.length === 0) {
    return null;
  }
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {words.schemas(names.length)}
      </Title>
      {names.slice(0, few).map((name) => (
        <NamedSchema key={name} document={document} name={name} schema={named[name]} first={names.length === 1} />
      ))}
      {names.length > few && <Text size="sm" c="dimmed">{words.moreSchemas(names.length - few)}</Text>}
    </Stack>
  );
}

function NamedSchema({ document, name, schema, first }: { document: unknown; name: string; schema: unknown; first: boolean }) {
  const [open, setOpen] = useState(first);
  return (
    <Paper withBorder component="section" aria-label={name}>
      <UnstyledButton onClick={() => setOpen(!open)} aria-expanded={open} className={styles.operation}>
        <span className={styles.described}>
          <span className={styles.path}>{name}</span>
          <span className={styles.summary}>{isObject(schema) ? text(schema["description"]) : ""}</span>
        </span>
        <Icon name={open ? "up" : "down"} size={14} />
      </UnstyledButton>
      {open && (
        <div className={styles.inside}>
          <SchemaTree document={document} schema={schema} />
        </div>
      )}
    </Paper>
  );
}
