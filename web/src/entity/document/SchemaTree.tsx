import { useState } from "react";
import { Button, Code, Group, Text, UnstyledButton } from "@mantine/core";
import { Icon } from "../../components/Icon";
import { texts } from "../../text";
import { fieldsOf, notesOf, refName, text, typeOf, type Field } from "./schema";
import styles from "./Document.module.css";

// few is the number of fields of an object shown at first.
const few = 60;

// SchemaTree shows the fields of a schema; nested objects are expanded on request. Collapsed levels are not rendered, so
// that large and recursive schemas are fast. hide are the names of fields to leave out.
export function SchemaTree({ document, schema, open = 2, hide = [] }: { document: unknown; schema: unknown; open?: number; hide?: string[] }) {
  const [shown, setShown] = useState(few);
  const fields = fieldsOf(document, schema).filter((f) => !hide.includes(f.name));
  if (fields.length === 0) {
    return null;
  }
  return (
    <ul className={styles.fields}>
      {fields.slice(0, shown).map((field) => (
        <FieldItem key={field.name} document={document} field={field} open={open} />
      ))}
      {fields.length > shown && (
        <li>
          <Button size="compact-xs" variant="subtle" c="var(--mantine-color-anchor)" onClick={() => setShown(shown + 200)}>
            {texts.entity.document.moreFields(Math.min(200, fields.length - shown), fields.length)}
          </Button>
        </li>
      )}
    </ul>
  );
}

function FieldItem({ document, field, open }: { document: unknown; field: Field; open: number }) {
  const [opened, setOpened] = useState(open > 0);
  const nested = fieldsOf(document, field.raw).length > 0;
  const notes = notesOf(field.schema);
  const description = text(field.schema["description"]);
  const name = (
    <Text size="sm" fw={600} component="span" ff="monospace" className={styles.name}>
      {field.name}
    </Text>
  );
  return (
    <li>
      <Group gap={8} align="baseline">
        {nested ? (
          <UnstyledButton onClick={() => setOpened(!opened)} aria-expanded={opened} className={styles.toggle}>
            <Icon name={opened ? "down" : "right"} size={12} /> {name}
          </UnstyledButton>
        ) : (
          name
        )}
        <Text size="xs" c="dimmed" component="span">
          {refName(field.raw) || typeOf(document, field.raw)}
        </Text>
        {field.required && (
          <Text size="xs" component="span" fw={600}>
            {texts.entity.versions.required}
          </Text>
        )}
      </Group>
      {description !== "" && (
        <Text size="sm" className={styles.said}>
          {description}
        </Text>
      )}
      {notes.length > 0 && (
        <Text size="xs" c="dimmed" className={styles.said}>
          {notes.join(" · ")}
        </Text>
      )}
      {nested && opened && <SchemaTree document={document} schema={field.raw} open={open - 1} />}
    </li>
  );
}

// SchemaLine shows the type of a schema without fields.
export function SchemaLine({ document, schema }: { document: unknown; schema: unknown }) {
  return (
    <Text size="sm" component="span">
      <Code>{refName(schema) || typeOf(document, schema)}</Code>
    </Text>
  );
}
