import { Box, Group, Stack, Text, TextInput } from "@mantine/core";
import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  type DescriptionFieldProps,
  type FieldErrorProps,
  type FieldHelpProps,
  type FieldTemplateProps,
  getTemplate,
  getUiOptions,
  helpId,
  type MultiSchemaFieldTemplateProps,
  type WrapIfAdditionalTemplateProps,
} from "@rjsf/utils";
import { AddButton, RemoveButton } from "./buttons";
import type { FormContext } from "./context";
import { texts } from "../../text";
import styles from "./Form.module.css";

const words = texts.create.form;

// FieldTemplate wraps every field with its errors, help and details.
export function FieldTemplate(props: FieldTemplateProps) {
  const { hidden, children, errors, help, uiSchema, registry, label } = props;
  if (hidden) {
    return null;
  }
  const options = getUiOptions(uiSchema);
  const Wrap = getTemplate("WrapIfAdditionalTemplate", registry, options);
  return (
    <Wrap {...props}>
      {children}
      {errors}
      {help}
      {typeof options["details"] === "string" && <Details about={label} text={options["details"]} />}
    </Wrap>
  );
}

function Details({ about, text }: { about: string; text: string }) {
  return (
    <Text component="details" size="sm" c="dimmed" className={styles.details} mt={4}>
      <summary>{words.moreAbout(about)}</summary>
      <Text size="sm" component="div" className={styles.lines}>
        {text}
      </Text>
    </Text>
  );
}

// FieldHelp shows the help of a field. In a generated form, that is the messages of its validation rules.
export function FieldHelp({ help, fieldPathId, registry }: FieldHelpProps) {
  if (!help) {
    return null;
  }
  const { rules } = registry.formContext as FormContext;
  return (
    <Text id={helpId(fieldPathId)} size="sm" c="dimmed" mt={4} className={styles.lines} component="div">
      {rules && typeof help === "string" ? <Rules lines={help.split("\n")} /> : help}
    </Text>
  );
}

// Rules is a list of validation rules.
export function Rules({ lines }: { lines: string[] }) {
  return lines.length === 1 ? (
    <>
      {words.rules} {lines[0]}
    </>
  ) : (
    <>
      {words.rules}
      <ul className={styles.rules}>
        {lines.map((line, i) => (
          <li key={i}>{line}</li>
        ))}
      </ul>
    </>
  );
}

// FieldError shows the errors of a list or an object. Other fields show their own.
export function FieldError({ errors, schema, uiSchema }: FieldErrorProps) {
  const plain = schema.type !== "array" && schema.type !== "object" && !schema.properties;
  if (!errors?.length || plain || getUiOptions(uiSchema).field) {
    return null;
  }
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert" mt={4}>
      {errors.map(String).join(" ")}
    </Text>
  );
}

export function Description({ id, description }: DescriptionFieldProps) {
  return description ? (
    <Text id={id} size="xs" c="dimmed" className={styles.lines} component="div">
      {description}
    </Text>
  ) : null;
}

// WrapIfAdditional adds a name input to the entries of a map.
export function WrapIfAdditional(props: WrapIfAdditionalTemplateProps) {
  const { schema, children, id, label, onKeyRenameBlur, onRemoveProperty, disabled, readonly, registry } = props;
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) {
    return <Box>{children}</Box>;
  }
  const wide = schema.type === "object" || schema.type === "array" || schema.properties !== undefined;
  const name = (
    <TextInput
      key={label}
      id={`${id}-key`}
      label={words.name}
      aria-label={words.nameOf(label)}
      defaultValue={label}
      disabled={disabled || readonly}
      onBlur={readonly ? undefined : onKeyRenameBlur}
      onKeyDown={(e) => {
        // Enter confirms the name and does not submit the form.
        if (e.key === "Enter") {
          e.preventDefault();
          e.currentTarget.blur();
        }
      }}
      data-autofocus
    />
  );
  const remove = (
    <div className={styles.beside}>
      <RemoveButton title={words.removeNamed(label)} disabled={disabled || readonly} onClick={onRemoveProperty} registry={registry} />
    </div>
  );
  if (wide) {
    return (
      <Stack gap="xs">
        <div className={styles.entryWide}>
          {name}
          {remove}
        </div>
        {children}
      </Stack>
    );
  }
  return (
    <div className={styles.entry}>
      {name}
      <div>{children}</div>
      {remove}
    </div>
  );
}

export function ArrayField(props: ArrayFieldTemplateProps) {
  const { title, items, canAdd, onAddClick, disabled, readonly, required, schema, uiSchema, fieldPathId, registry } = props;
  const options = getUiOptions(uiSchema);
  const description = options.description ?? schema.description;
  const titled = options.title ?? title;
  const label = `${fieldPathId.$id}-label`;
  return (
    <Stack gap="xs" role="group" aria-labelledby={label} id={fieldPathId.$id}>
      <div>
        <Text size="sm" fw={600} id={label}>
          {titled}
          {required && <Required />}
        </Text>
        {description && <Description id={`${fieldPathId.$id}__description`} description={description} schema={schema} registry={registry} uiSchema={uiSchema} />}
      </div>
      {items}
      {canAdd && !readonly && <AddButton title={words.addTo(String(titled))} disabled={disabled} onClick={onAddClick} registry={registry} />}
    </Stack>
  );
}

export function Required() {
  return (
    <Text span inherit c="var(--mantine-color-error)" aria-hidden>
      {" *"}
    </Text>
  );
}

export function ArrayItem(props: ArrayFieldItemTemplateProps) {
  const { children, buttonsProps, hasToolbar, index, uiSchema, registry } = props;
  const Buttons = getTemplate("ArrayFieldItemButtonsTemplate", registry, getUiOptions(uiSchema));
  return (
    <div className={styles.item} role="group" aria-label={words.entryTitle(index + 1)}>
      <div className={styles.itemBody}>{children}</div>
      {hasToolbar && (
        <Group wrap="nowrap" gap={2} className={styles.itemButtons}>
          <Buttons {...buttonsProps} />
        </Group>
      )}
    </div>
  );
}

// MultiSchema is a selector with the fields of the selected option.
export function MultiSchema({ selector, optionSchemaField, schema }: MultiSchemaFieldTemplateProps) {
  // An object with fields has already shown its title.
  const titled = typeof schema.title === "string" && schema.title !== "" && Object.keys(schema.properties ?? {}).length === 0;
  return (
    <Stack gap="sm">
      <Stack gap={4}>
        {titled && (
          <Text size="sm" fw={600}>
            {schema.title}
          </Text>
        )}
        {selector}
      </Stack>
      {optionSchemaField}
    </Stack>
  );
}
