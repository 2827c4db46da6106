import { PasswordInput } from "@mantine/core";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { lookup } from "../../components/lookup";
import type { FormContext } from "./context";

// Secret is a value that only steps see. The form holds asterisks in its place; the value is sent with the task and lost
// when the page is left.
export function Secret({ onChange, fieldPathId, schema, uiSchema, name, required, disabled, readonly, registry, rawErrors }: FieldProps) {
  const options = getUiOptions(uiSchema);
  const { secrets, setSecret } = registry.formContext as FormContext;
  return (
    <PasswordInput
      id={fieldPathId.$id}
      label={options.title ?? schema.title ?? name}
      description={options.description ?? schema.description}
      required={required}
      disabled={disabled || readonly}
      value={lookup(secrets, name) ?? ""}
      error={rawErrors && rawErrors.length > 0 ? rawErrors.join(" ") : undefined}
      autoComplete="new-password"
      onChange={(e) => {
        const value = e.currentTarget.value;
        setSecret(name, value);
        onChange(value === "" ? undefined : "*".repeat([...value].length), fieldPathId.path);
      }}
    />
  );
}
