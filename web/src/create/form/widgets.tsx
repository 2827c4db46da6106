import { useMemo } from "react";
import { Checkbox, MultiSelect, PasswordInput, Select, Textarea, TextInput, VisuallyHidden } from "@mantine/core";
import { ADDITIONAL_PROPERTY_FLAG, enumOptionSelectedValue, enumOptionValueDecoder, enumOptionValueEncoder, type BaseInputTemplateProps, type WidgetProps } from "@rjsf/utils";
import { lookup } from "../../components/lookup";
import { texts } from "../../text";
import { mayFocus } from "./focus";
import styles from "./Form.module.css";

const words = texts.create.form;

// entryLabel formats the label of a list item: Network 1 instead of Networks-1. It is undefined for other fields.
function entryLabel(id: string, label: string): string | undefined {
  const entry = Number(/_(\d+)$/.exec(id)?.[1] ?? NaN) + 1;
  return label.endsWith(`-${entry}`) ? words.entryOf(label.slice(0, -`-${entry}`.length), entry) : undefined;
}

// Label is the label of a field whose unit is shown in its input: screen readers hear both.
function Label({ title, unit }: { title: string; unit: string }) {
  return (
    <>
      {`${title} `}
      <VisuallyHidden>{words.unit(unit)}</VisuallyHidden>
    </>
  );
}

// shared returns the common props of all inputs: label, description and error.
function shared(props: WidgetProps | BaseInputTemplateProps) {
  const { id, hideLabel, required, disabled, readonly, autofocus, placeholder, rawErrors, schema, options } = props;
  const unit = typeof options["unit"] === "string" ? options["unit"] : undefined;
  const item = entryLabel(id, props.label);
  const label = item ?? props.label;
  const description = options.description ?? schema.description;
  // The name of a map entry is shown beside its value.
  const entry = ADDITIONAL_PROPERTY_FLAG in schema;
  return {
    id,
    name: props.htmlName || id,
    label: hideLabel ? undefined : entry ? words.value : unit ? <Label title={label} unit={unit} /> : label,
    "aria-label": entry ? words.valueOf(label) : hideLabel ? label : undefined,
    description: hideLabel ? undefined : description,
    // An item is there because it was added: a star would say that the list is required.
    required: required && item === undefined,
    disabled,
    readOnly: readonly,
    autoFocus: mayFocus(autofocus),
    placeholder: placeholder || undefined,
    error: rawErrors && rawErrors.length > 0 ? rawErrors.join(" ") : undefined,
  };
}

// native are formats with a suitable native input.
const native: Record<string, string> = { date: "date" };

// BaseInput is a text or number input. Numbers use a text input too: native number inputs drop invalid input and change
// with the mouse wheel.
export function BaseInput(props: BaseInputTemplateProps) {
  const { value, schema, onChange, onBlur, onFocus, id, options, type } = props;
  const number = schema.type === "number" || schema.type === "integer";
  const kind = type ?? lookup(native, schema.format) ?? "text";
  const unit = typeof options["unit"] === "string" ? options["unit"] : undefined;
  return (
    <TextInput
      {...shared(props)}
      type={number ? "text" : kind}
      inputMode={schema.type === "integer" ? "numeric" : number ? "decimal" : undefined}
      value={value === undefined || value === null ? "" : String(value)}
      onChange={(e) => onChange(e.currentTarget.value === "" ? options.emptyValue : e.currentTarget.value)}
      onBlur={(e) => onBlur(id, e.currentTarget.value)}
      onFocus={(e) => onFocus(id, e.currentTarget.value)}
      autoComplete="off"
      spellCheck={false}
      rightSection={unit && <span className={styles.unit}>{unit}</span>}
      rightSectionWidth={unit && 16 + 9 * unit.length}
      rightSectionPointerEvents="none"
    />
  );
}

export function PasswordWidget(props: WidgetProps) {
  const { value, onChange, options } = props;
  return <PasswordInput {...shared(props)} value={value ?? ""} onChange={(e) => onChange(e.currentTarget.value === "" ? options.emptyValue : e.currentTarget.value)} autoComplete="new-password" />;
}

export function TextareaWidget(props: WidgetProps) {
  const { value, onChange, options } = props;
  return <Textarea {...shared(props)} value={value ?? ""} rows={options.rows ?? 4} resize="vertical" onChange={(e) => onChange(e.currentTarget.value === "" ? options.emptyValue : e.currentTarget.value)} />;
}

export function CheckboxWidget(props: WidgetProps) {
  const { value, onChange, readonly, disabled } = props;
  const { readOnly: _, placeholder: __, label, ...rest } = shared(props);
  return <Checkbox {...rest} aria-invalid={rest.error !== undefined} label={label ?? props.label} required={false} disabled={disabled || readonly} checked={value === true || value === "true"} onChange={(e) => onChange(e.currentTarget.checked)} />;
}

export function SelectWidget(props: WidgetProps) {
  const { value, options, onChange, multiple, required, disabled, readonly } = props;
  const { enumOptions, enumDisabled, emptyValue } = options;
  const data = useMemo(
    () =>
      (enumOptions ?? []).map((o, i) => ({
        value: enumOptionValueEncoder(o.value, i),
        // An empty string is an option too and must be visible.
        label: o.label === "" ? words.emptyText : String(o.label),
        disabled: enumDisabled?.includes(o.value as never) ?? false,
      })),
    [enumOptions, enumDisabled],
  );
  const { readOnly: _, ...rest } = shared(props);
  const common = { ...rest, data, disabled: disabled || readonly, searchable: data.length > 8, nothingFoundMessage: words.noResults };
  if (multiple) {
    const chosen = enumOptionSelectedValue(value, enumOptions, true, undefined, []) as string[];
    return <MultiSelect {...common} value={chosen} onChange={(next) => onChange(enumOptionValueDecoder(next, enumOptions, undefined, emptyValue))} clearable />;
  }
  const chosen = enumOptionSelectedValue(value, enumOptions, false, undefined, null) as string | null;
  return (
    <Select
      {...common}
      value={value === undefined ? null : chosen}
      placeholder={rest.placeholder ?? (required ? words.select : words.none)}
      allowDeselect={!required}
      clearable={!required}
      clearButtonProps={{ "aria-label": words.clearNamed(props.label) }}
      onChange={(next) => onChange(next === null ? emptyValue : enumOptionValueDecoder(next, enumOptions, undefined, emptyValue))}
    />
  );
}
