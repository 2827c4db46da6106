import { Stack } from "@mantine/core";
import { getUiOptions, type FieldProps } from "@rjsf/utils";
import { texts } from "../../text";
import { isObject, type Values } from "./types";
import { YamlText } from "./YamlText";

// OpenObject is an object that accepts more fields than its schema declares: declared fields have inputs, the others are
// entered as YAML. If all declared fields are advanced, the YAML comes first.
export function OpenObject(props: FieldProps) {
  const { schema, uiSchema, formData, onChange, fieldPathId, registry, required, name } = props;
  const names = Object.keys(schema.properties ?? {});
  const values: Values = isObject(formData) ? formData : {};
  const declared = only(values, (key) => names.includes(key));
  const others = only(values, (key) => !names.includes(key));
  const bare = names.every((key) => getUiOptions(uiSchema?.[key])["advanced"] === true);
  const title = getUiOptions(uiSchema).title ?? schema.title ?? name;
  const ObjectField = registry.fields["ObjectField"]!;
  const { "ui:field": _, ...rest } = uiSchema ?? {};
  const inner = bare ? { ...rest, "ui:options": { ...(isObject(rest["ui:options"]) ? rest["ui:options"] : {}), label: false } } : rest;
  const text = (
    <YamlText
      {...props}
      schema={{ type: "object", title: bare ? title : texts.create.form.additional(String(title)), description: bare ? schema.description : texts.create.form.additionalHint }}
      uiSchema={{ "ui:options": { reserved: names } }}
      formData={Object.keys(others).length === 0 ? undefined : others}
      fieldPathId={{ ...fieldPathId, $id: `${fieldPathId.$id}__additional` }}
      required={bare && required}
      // Text that cannot be parsed is not an object: the field shows the error and the last valid object stays.
      onChange={(next) => typeof next !== "string" && onChange({ ...declared, ...(isObject(next) ? next : {}) }, fieldPathId.path)}
    />
  );
  return (
    <Stack gap="md">
      {bare && text}
      {names.length > 0 && <ObjectField {...props} uiSchema={inner} />}
      {!bare && text}
    </Stack>
  );
}

function only(values: Values, keep: (key: string) => boolean): Values {
  return Object.fromEntries(Object.entries(values).filter(([key]) => keep(key)));
}
