import { useMemo, useState } from "react";
import { Group, Paper, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { Icon } from "../../components/Icon";
import { Tag } from "../../components/Tag";
import { toYaml } from "../../components/toYaml";
import { CodeSample } from "../../components/Yaml";
import { texts } from "../../text";
import { requestSample, sample, type Content, type Operation, type Parameter } from "./operations";
import { notesOf, resolve, typeOf } from "./schema";
import { SchemaLine, SchemaTree } from "./SchemaTree";
import styles from "./Document.module.css";

const words = texts.entity.document;

// OperationItem is a collapsible operation.
export function OperationItem({ document, operation, first }: { document: unknown; operation: Operation; first: boolean }) {
  const [open, setOpen] = useState(first);
  return (
    <Paper withBorder component="section" aria-label={`${operation.method} ${operation.path}`}>
      <UnstyledButton onClick={() => setOpen(!open)} aria-expanded={open} className={styles.operation}>
        <span className={styles.method} data-method={operation.method.toLowerCase()}>
          {operation.method}
        </span>
        <span className={styles.described}>
          {operation.summary !== "" && <span className={styles.heading}>{operation.summary}</span>}
          <span className={styles.path}>{operation.path}</span>
        </span>
        {operation.deprecated && <Tag tone="warning">{words.deprecated}</Tag>}
        <Icon name={open ? "up" : "down"} size={14} />
      </UnstyledButton>
      {open && (
        <Stack gap="md" p="md" pt={4}>
          {operation.description !== "" && (
            <Text size="sm" className={styles.text}>
              {operation.description}
            </Text>
          )}
          {operation.parameters.length > 0 && <Parameters document={document} parameters={operation.parameters} />}
          {operation.body.map((c) => (
            <Stack gap={6} key={c.type}>
              <Title order={4} size="h6">
                {words.body(c.type)}
              </Title>
              <Body document={document} content={c} />
            </Stack>
          ))}
          <Answers document={document} operation={operation} />
        </Stack>
      )}
    </Paper>
  );
}

function Parameters({ document, parameters }: { document: unknown; parameters: Parameter[] }) {
  return (
    <Stack gap={6}>
      <Title order={4} size="h6">
        {words.parameters}
      </Title>
      <ul className={styles.fields}>
        {parameters.map((p, i) => (
          <li key={i}>
            <Group gap={8} align="baseline">
              <Text size="sm" fw={600} ff="monospace" component="span" className={styles.name}>
                {p.name}
              </Text>
              <Text size="xs" c="dimmed" component="span">
                {words.parameter(typeOf(document, p.schema), p.place, p.required)}
              </Text>
            </Group>
            {p.description !== "" && <Text size="sm">{p.description}</Text>}
            <Text size="xs" c="dimmed">
              {notesOf(resolve(document, p.schema)).join(" · ")}
            </Text>
          </li>
        ))}
      </ul>
    </Stack>
  );
}

function Body({ document, content }: { document: unknown; content: Content }) {
  const example = useMemo(() => {
    const value = requestSample(content.example ?? sample(document, content.schema));
    return typeof value === "string" ? value : content.type.includes("yaml") ? toYaml(value) : JSON.stringify(value, null, 2);
  }, [document, content]);
  return (
    <div className={styles.sides}>
      <div>
        <SchemaLine document={document} schema={content.schema} />
        <SchemaTree document={document} schema={content.schema} hide={["status"]} />
      </div>
      <div>
        <Text size="xs" c="dimmed" mb={4}>
          {words.example}
        </Text>
        <CodeSample text={example} label={words.example} />
      </div>
    </div>
  );
}

function Answers({ document, operation }: { document: unknown; operation: Operation }) {
  return (
    <Stack gap={6}>
      <Title order={4} size="h6">
        {words.responses}
      </Title>
      <ul className={styles.answers}>
        {operation.answers.map((a) => (
          <li key={a.status}>
            <Text size="sm" component="span">
              <b>{a.status}</b> {a.description}
            </Text>{" "}
            {a.contents.map((c) => (
              <Text size="xs" c="dimmed" component="span" key={c.type}>
                {c.type} <SchemaLine document={document} schema={c.schema} />{" "}
              </Text>
            ))}
          </li>
        ))}
      </ul>
    </Stack>
  );
}
