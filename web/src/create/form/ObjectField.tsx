import { useId, useState, type ReactNode } from "react";
import { Button, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { canExpand, getUiOptions, isObject, type ObjectFieldTemplateProps } from "@rjsf/utils";
import { Icon } from "../../components/Icon";
import { AddButton } from "./buttons";
import { crowded, type FormContext } from "./context";
import { Description, Required } from "./templates";
import styles from "./Form.module.css";

// some is the number of fields of one object shown at once.
const some = 60;

// ObjectField shows the fields of an object: directly for the page itself, otherwise in a collapsible section. Collapsed
// sections are not rendered, so that a page of two thousand fields stays fast.
export function ObjectField(props: ObjectFieldTemplateProps) {
  const { title, description, schema, uiSchema, errorSchema, fieldPathId, registry, required, formData } = props;
  const root = fieldPathId.path.length === 0;
  const context = registry.formContext as FormContext;
  const failing = isObject(errorSchema) && Object.keys(errorSchema).length > 0;
  // The form can set which sections are collapsed at first.
  const collapsed = getUiOptions(uiSchema)["collapsed"];
  const open = typeof collapsed === "boolean" ? !collapsed : context.fields <= crowded;
  if (root) {
    return <Fields {...props} />;
  }
  // The selector of an option already shows its title.
  const bare = title === undefined || title === "" || fieldPathId.$id.endsWith("_XxxOf") || getUiOptions(uiSchema).label === false;
  if (bare) {
    return <Fields {...props} />;
  }
  const filled = isObject(formData) ? Object.values(formData).filter((v) => v !== undefined).length : 0;
  // Items of a list have a number and are always present.
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
  return filled > 0 ? `${all}, ${filled} set` : all;
}

// Section is a collapsible part of a page. It stays open while it has errors.
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

// Fields shows the fields of one object: first the regular ones, then the advanced ones.
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
          description={`${usual.length.toLocaleString("en")} fields`}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Enter" && e.preventDefault()}
          leftSection={<Icon name="search" size={16} />}
        />
      )}
      {here.map((p) => (
        <div key={p.name}>{p.content}</div>
      ))}
      {term !== "" && found.length === 0 && <Text c="dimmed">No matching fields.</Text>}
      {found.length > here.length && (
        <Button variant="default" w="fit-content" onClick={() => setMost(most + 2 * some)}>
          {`Show more fields (${(found.length - here.length).toLocaleString("en")} left)`}
        </Button>
      )}
      {canExpand(schema, uiSchema, formData) && !readonly && <AddButton title={title ? `Add to ${title}` : "Add entry"} disabled={disabled} onClick={onAddProperty} registry={registry} />}
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
