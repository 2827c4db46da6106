import { useState } from "react";
import { TextInput } from "@mantine/core";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { texts } from "../../text";
import { mayFocus } from "./focus";

// readIntOrString parses the input: digits are a number, quoted text is always text.
export function readIntOrString(text: string): number | string | undefined {
  if (text === "") {
    return undefined;
  }
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) {
    return Number(text);
  }
  const quoted = /^"([\s\S]*)"$/.exec(text);
  return quoted ? quoted[1]! : text;
}

function written(value: unknown): string {
  if (value === undefined || value === null) {
    return "";
  }
  return typeof value === "string" && readIntOrString(value) !== value ? `"${value}"` : String(value);
}

// IntOrString is a field for a number or a text, such as a port or a percentage.
export function IntOrString({ formData, onChange, fieldPathId, schema, uiSchema, name, required, disabled, readonly, rawErrors, autofocus }: FieldProps) {
  const options = getUiOptions(uiSchema);
  const [text, setText] = useState(() => written(formData));
  const shown = readIntOrString(text) === formData ? text : written(formData);
  const description = options.description ?? schema.description;
  return (
    <TextInput
      id={fieldPathId.$id}
      label={options.title ?? schema.title ?? name}
      description={[description, texts.create.form.intOrString].filter(Boolean).join(" ")}
      placeholder={options.placeholder}
      required={required}
      disabled={disabled}
      readOnly={readonly}
      autoFocus={mayFocus(autofocus)}
      value={shown}
      error={rawErrors && rawErrors.length > 0 ? rawErrors.join(" ") : undefined}
      onChange={(e) => {
        setText(e.currentTarget.value);
        onChange(readIntOrString(e.currentTarget.value), fieldPathId.path);
      }}
      autoComplete="off"
      spellCheck={false}
    />
  );
}
