import { englishStringTranslator, TranslatableString } from "@rjsf/utils";
import { withTheme, type ThemeProps } from "@rjsf/core";
import { Theme } from "@rjsf/mantine";
import * as buttons from "./buttons";
import { IntOrString } from "./IntOrString";
import { LiveChoices } from "./LiveChoices";
import { ObjectField } from "./ObjectField";
import { OpenObject } from "./OpenObject";
import { EntityPicker, OwnerPicker } from "./Picker";
import { Secret } from "./Secret";
import * as templates from "./templates";
import * as widgets from "./widgets";
import { YamlText } from "./YamlText";
import { Broken, SchemaField } from "./FieldBoundary";
import { texts } from "../../text";

const ours: ThemeProps = {
  templates: {
    ...Theme.templates,
    FieldTemplate: templates.FieldTemplate,
    FieldHelpTemplate: templates.FieldHelp,
    FieldErrorTemplate: templates.FieldError,
    DescriptionFieldTemplate: templates.Description,
    WrapIfAdditionalTemplate: templates.WrapIfAdditional,
    ArrayFieldTemplate: templates.ArrayField,
    ArrayFieldItemTemplate: templates.ArrayItem,
    MultiSchemaFieldTemplate: templates.MultiSchema,
    ObjectFieldTemplate: ObjectField,
    BaseInputTemplate: widgets.BaseInput,
    ButtonTemplates: { ...Theme.templates?.ButtonTemplates, ...buttons },
  },
  widgets: {
    ...Theme.widgets,
    CheckboxWidget: widgets.CheckboxWidget,
    SelectWidget: widgets.SelectWidget,
    PasswordWidget: widgets.PasswordWidget,
    TextareaWidget: widgets.TextareaWidget,
    // Native date inputs write formats that the server does not accept; text inputs keep the value as entered.
    DateTimeWidget: widgets.BaseInput as never,
    DateWidget: widgets.BaseInput as never,
    TimeWidget: widgets.BaseInput as never,
  },
};

export const Themed = withTheme(ours);

// fields are the fields that Templates select with ui:field (listed in names.ts) and the wrapper of all fields.
export const fields = {
  SchemaField,
  Broken,
  OwnerPicker,
  EntityPicker,
  OwnedEntityPicker: EntityPicker,
  MyGroupsPicker: OwnerPicker,
  YamlText,
  OpenObject,
  IntOrString,
  Secret,
  LiveChoices,
};

// words translates the texts of the form library.
export function words(text: TranslatableString, params?: string[]): string {
  switch (text) {
    case TranslatableString.NewStringDefault:
      return "";
    case TranslatableString.TitleOptionPrefix:
      return texts.create.form.option.variant(Number(params?.[1]));
    case TranslatableString.OptionPrefix:
      return texts.create.form.option.variant(Number(params?.[0]));
  }
  return englishStringTranslator(text, params);
}
