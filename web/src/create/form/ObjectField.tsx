import { useId, useState, type ReactNode } from "react";
import { Button, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { canExpand, getUiOptions, isObject, type ObjectFieldTemplateProps } from "@rjsf/utils";
import { Icon } from "../../parts/Icon";
import { AddButton } from "./buttons";
import { crowded, type FormContext } from "./context";
import { Description, Required } from "./templates";
import styles from "./Form.module.css";

// some is how many fields of one object are shown at once.
const some = 60;

// ObjectField shows the fields of an object: those of the page itself as they are, others in a section that can be closed.
// What is closed is not rendered at all, so that a page of two thousand fields is quick.
export function ObjectField(props: ObjectFieldTemplateProps) {
  const { title, description, schema, uiSchema, errorSchema, fieldPathId, registry, required, formData } = props;
  const root = fieldPathId.path.length === 0;
  const context = registry.formContext as FormContext;
  const failing = isObject(errorSchema) && Object.keys(errorSchema).length > 0;
  // Who made the form may say which sections are closed at first.
  const collapsed = getUiOptions(uiSchema)["collapsed"];
  const open = typeof collapsed === "boolean" ? !collapsed : context.fields <= crowded;
  if (root) {
    return <Fields {...props} />;
  }
  // The choice of a group of fields has its title already.
  const bare = title === undefined || title === "" || fieldPathId.$id.endsWith("_XxxOf") || getUiOptions(uiSchema).label === false;
  if (bare) {
    return <Fields {...props} />;
  }
  const filled = isObject(formData) ? Object.values(formData).filter((v) => v !== undefined).length : 0;
  // What is in a list has a number, and is there in any case.
  const last = fieldPathId.path.at(-1);
  const entry = typeof last === "number" ? last + 1 : undefined;
  return (
    <Section
      title={entry === undefined ? title : `Entry ${entry}`}
      required={required && entry === undefined}
      note={noteOf(Object.keys(schema.properties ?? {}).length, filled)}
      open={open || failing}
      force={failing}
      description={description && <Description id={`${fieldPathId.$id}__description`} description={description} schema={schema} registry={registry} uiSchema={uiSchema} />}
    >
      <Fields {...props} />
    </Section>
  );
}

function noteOf(fields: number, filled: number): string {
  const all = fields === 0 ? "" : fields === 1 ? "1 field" : `${fields} fields`;
  return filled > 0 ? `${all}, ${filled} filled in` : all;
}

// Section is a part of a page that can be opened and closed. It is open by force while something in it is wrong.
function Section({ title, note, open: first, force, required, description, children }: { title: string; note?: string; open: boolean; force?: boolean; required?: boolean; description?: ReactNode; children: ReactNode }) {
  const [open, setOpen] = useState(first);
  const id = useId();
  const shown = open || force === true;
  return (
    <div className={styles.section} role="group" aria-labelledby={`${id}-title`}>
      <UnstyledButton className={styles.toggle} onClick={() => setOpen(!shown)} aria-expanded={shown} id={`${id}-title`}>
        <Icon name={shown ? "down" : "right"} size={16} />
        <span>
          {title}
          {required && <Required />}
        </span>
        {!shown && note && (
          <Text span size="sm" c="dimmed" fw={400}>
            {note}
          </Text>
        )}
      </UnstyledButton>
      {description}
      {shown && (
        <Stack gap="md" mt="sm">
          {children}
        </Stack>
      )}
    </div>
  );
}

// Fields are the fields of one object: at first those that everybody fills in, then the advanced ones.
function Fields({ properties, schema, uiSchema, errorSchema, formData, onAddProperty, disabled, readonly, registry, title }: ObjectFieldTemplateProps) {
  const [most, setMost] = useState(some);
  const [text, setText] = useState("");
  const shown = properties.filter((p) => !p.hidden);
  const isAdvanced = (name: string) => getUiOptions(uiSchema?.[name])["advanced"] === true;
  const wrong = (name: string) => isObject(errorSchema) && (errorSchema as Record<string, unknown>)[name] !== undefined;
  const advanced = shown.filter((p) => isAdvanced(p.name));
  const usual = shown.filter((p) => !isAdvanced(p.name));
  const term = text.trim().toLowerCase();
  const found = term === "" ? usual : usual.filter((p) => titleOf(schema, p.name).toLowerCase().includes(term) || p.name.toLowerCase().includes(term));
  const here = found.filter((p, i) => i < most || wrong(p.name) || schema.required?.includes(p.name));
  return (
    <Stack gap="md">
      {usual.length > some && (
        <TextInput
          type="search"
          label="Find a field"
          description={`There are ${usual.length.toLocaleString("en")} fields here.`}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Enter" && e.preventDefault()}
          leftSection={<Icon name="search" size={16} />}
        />
      )}
      {here.map((p) => (
        <div key={p.name}>{p.content}</div>
      ))}
      {term !== "" && found.length === 0 && <Text c="dimmed">No field is called so.</Text>}
      {found.length > here.length && (
        <Button variant="default" w="fit-content" onClick={() => setMost(most + 2 * some)}>
          {`Show more fields (${(found.length - here.length).toLocaleString("en")} left)`}
        </Button>
      )}
      {canExpand(schema, uiSchema, formData) && !readonly && <AddButton title={title ? `Add to ${title}` : "Add an entry"} disabled={disabled} onClick={onAddProperty} registry={registry} />}
      {advanced.length > 0 && (
        <Section title="Advanced" note={noteOf(advanced.length, 0)} open={false} force={advanced.some((p) => wrong(p.name))}>
          {advanced.map((p) => (
            <div key={p.name}>{p.content}</div>
          ))}
        </Section>
      )}
    </Stack>
  );
}

function titleOf(schema: ObjectFieldTemplateProps["schema"], name: string): string {
  const property = schema.properties?.[name];
  return isObject(property) && typeof property.title === "string" ? property.title : name;
}
