import type { FieldExtensionComponentProps } from '@backstage/plugin-scaffolder-react';
import { createFormField, ScaffolderField } from '@backstage/plugin-scaffolder-react/alpha';
import { makeStyles } from '@material-ui/core/styles';
import TextField from '@material-ui/core/TextField';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { parseYaml, problemWith, readYaml, typesOf, writeYaml } from './yaml';

const useStyles = makeStyles((theme) => ({
  text: { fontFamily: 'Menlo, Consolas, monospace', fontSize: theme.typography.body2.fontSize, lineHeight: 1.5, resize: 'vertical', tabSize: 2 },
}));

/** YamlText is the field of a value that has no form: its text is YAML, its value what the text contains. */
function YamlText({ formData, onChange, schema, uiSchema, idSchema, name, required, disabled, readonly, rawErrors }: FieldExtensionComponentProps<unknown>) {
  const classes = useStyles();
  const types = typesOf(schema);
  const [text, setText] = useState(() => writeYaml(formData, types));
  const last = useRef<unknown>(formData);
  const key = JSON.stringify(formData);
  useEffect(() => {
    // The value was changed elsewhere.
    if (key !== JSON.stringify(last.current)) {
      last.current = formData;
      setText(writeYaml(formData, typesOf(schema)));
    }
  }, [key, formData, schema]);
  const write = (next: string) => {
    setText(next);
    last.current = readYaml(next, types);
    onChange(last.current);
  };
  const { problem } = parseYaml(text, types);
  const lines = text.split('\n').length;
  return (
    <ScaffolderField rawErrors={rawErrors} rawDescription={schema.description} required={required} disabled={disabled}>
      <TextField
        id={idSchema.$id}
        label={uiSchema['ui:title'] ?? schema.title ?? name}
        placeholder={uiSchema['ui:placeholder'] ?? (types.includes('array') && !types.includes('object') ? '- value' : 'key: value')}
        value={text}
        onChange={(e) => {
          write(e.target.value);
        }}
        onKeyDown={indent}
        multiline
        minRows={Math.min(Math.max(lines + 1, 4), 24)}
        maxRows={24}
        variant="outlined"
        margin="dense"
        required={required}
        disabled={disabled || readonly}
        error={problem !== undefined || rawErrors.length > 0}
        helperText={problem}
        FormHelperTextProps={{ role: 'alert' }}
        InputLabelProps={{ shrink: true }}
        inputProps={{ className: classes.text, spellCheck: false, autoCapitalize: 'off', 'aria-invalid': problem !== undefined }}
      />
    </ScaffolderField>
  );
}

// indent keeps the indentation on Enter. Tab moves to the next field, as everywhere.
function indent(e: KeyboardEvent) {
  const area = e.target as HTMLTextAreaElement;
  if (e.key !== 'Enter' || e.ctrlKey || e.metaKey || e.altKey) {
    return;
  }
  const before = area.value.slice(0, area.selectionStart);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const spaces = (/^ */.exec(line)?.[0] ?? '') + (line.trimEnd().endsWith(':') ? '  ' : '');
  if (spaces !== '') {
    e.preventDefault();
    // Unlike a change of the value, the browser can undo this.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way to insert text that can be undone
    document.execCommand('insertText', false, `\n${spaces}`);
  }
}

/** yamlText is the form field. */
export const yamlText = createFormField({
  name: 'YamlText',
  component: YamlText,
  validation: (value: unknown, field, { schema }) => {
    const problem = problemWith(value, typesOf(schema));
    if (problem !== undefined) {
      field.addError(problem);
    }
  },
});
