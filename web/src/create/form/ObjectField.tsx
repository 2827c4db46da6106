import { use, useEffect, useId, useState, type ReactNode } from "react";
import { Button, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { canExpand, getUiOptions, isObject, type ObjectFieldTemplateProps } from "@rjsf/utils";
import { Icon } from "../../components/Icon";
import { AddButton } from "./buttons";
import { crowded, Reveal, within, type FormContext } from "./context";
import { Description, Required } from "./templates";
import { texts } from "../../text";
import styles from "./Form.module.css";

const words = texts.create.form;

// some is the number of fields of one object shown at once.
const some = 60;

// ObjectField shows the fields of an object: directly for the page itself, otherwise in a collapsible section. Collapsed
// sections are not rendered, so that a page of two thousand fields stays fast.
export function ObjectField(props: ObjectFieldTemplateProps) {
  const { title, description, schema, uiSchema, errorSchema, fieldPathId, registry, required, formData } = props;
  const root = fieldPathId.path.length === 0;
  const context = registry.formContext as FormContext;
  const reveal = use(Reveal);
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
      title={entry === undefined ? title : words.entryTitle(entry)}
      required={required && entry === undefined}
      note={noteOf(Object.keys(schema.properties ?? {}).length, filled)}
      id={fieldPathId.$id}
      open={open || failing}
      force={failing}
      reveal={within(fieldPathId.path, reveal)}
      description={description && <Description id={`${fieldPathId.$id}__description`} description={description} schema={schema} registry={registry} uiSchema={uiSchema} />}
    >
      <Fields {...props} />
    </Section>
  );
}

function noteOf(fields: number, filled: number): string {
  return words.fields(fields, filled);
}

type SectionProps = {
  id?: string;
  title: string;
  note?: string;
  open: boolean;
  // force keeps the section open, because it has errors.
  force?: boolean;
  // reveal opens the section, because a field in it was asked for.
  reveal?: boolean;
  required?: boolean;
  description?: ReactNode;
  children: ReactNode;
};

// Section is a collapsible part of a page.
function Section({ id, title, note, open: first, force, reveal, required, description, children }: SectionProps) {
  const [open, setOpen] = useState(first);
  const heading = useId();
  const shown = open || force === true || reveal === true;
  useEffect(() => {
    if (reveal) {
      setOpen(true);
    }
  }, [reveal]);
  return (
    <div id={id} className={styles.section} role="group" aria-labelledby={heading}>
      <UnstyledButton className={styles.toggle} onClick={() => setOpen(!shown)} aria-expanded={shown} id={heading}>
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
function Fields({ properties, schema, uiSchema, errorSchema, formData, onAddProperty, disabled, readonly, registry, title, fieldPathId }: ObjectFieldTemplateProps) {
  const reveal = use(Reveal);
  const asked = (name: string) => within([...fieldPathId.path, name], reveal);
  const [most, setMost] = useState(some);
  const [text, setText] = useState("");
  const shown = properties.filter((p) => !p.hidden);
  const isAdvanced = (name: string) => getUiOptions(uiSchema?.[name])["advanced"] === true;
  const wrong = (name: string) => isObject(errorSchema) && (errorSchema as Record<string, unknown>)[name] !== undefined;
  const advanced = shown.filter((p) => isAdvanced(p.name));
  const usual = shown.filter((p) => !isAdvanced(p.name));
  const term = text.trim().toLowerCase();
  const found = term === "" ? usual : usual.filter((p) => titleOf(schema, p.name).toLowerCase().includes(term) || p.name.toLowerCase().includes(term));
  const revealed = usual.find((p) => asked(p.name))?.name;
  // A field that was asked for stays in sight.
  const [kept, setKept] = useState<string>();
  useEffect(() => {
    if (revealed !== undefined) {
      setKept(revealed);
      setText("");
    }
  }, [revealed]);
  const here = (revealed === undefined ? found : usual).filter((p, i) => i < most || wrong(p.name) || p.name === revealed || p.name === kept || schema.required?.includes(p.name));
  return (
    <Stack gap="md">
      {usual.length > some && (
        <TextInput
          type="search"
          label={words.find}
          description={words.fields(usual.length, 0)}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Enter" && e.preventDefault()}
          leftSection={<Icon name="search" size={16} />}
        />
      )}
      {here.map((p) => (
        <div key={p.name}>{p.content}</div>
      ))}
      {term !== "" && found.length === 0 && <Text c="dimmed">{words.noFields}</Text>}
      {found.length > here.length && (
        <Button variant="default" w="fit-content" onClick={() => setMost(most + 2 * some)}>
          {words.moreFields(found.length - here.length)}
        </Button>
      )}
      {canExpand(schema, uiSchema, formData) && !readonly && <AddButton title={title ? words.addTo(title) : words.addEntry} disabled={disabled} onClick={onAddProperty} registry={registry} />}
      {advanced.length > 0 && (
        <Section title={words.advanced} note={noteOf(advanced.length, 0)} open={false} force={advanced.some((p) => wrong(p.name))} reveal={advanced.some((p) => asked(p.name))}>
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
