import type { FieldExtensionComponentProps } from '@backstage/plugin-scaffolder-react';
import { createFormField, ScaffolderField } from '@backstage/plugin-scaffolder-react/alpha';
import Box from '@material-ui/core/Box';
import Chip from '@material-ui/core/Chip';
import TextField from '@material-ui/core/TextField';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { useParams } from 'react-router-dom';
import { useRead, type RequestError } from './api';
import { isMany, noteFor, pointerOf, queryOf, readValue } from './choices';

interface Choices {
  items: { value: string | number; label?: string }[];
  more: boolean;
}

// pause is how long after the last key choices are read, in milliseconds.
const pause = 200;

/** useChoices returns the choices of a field once the user has come to it, and why there are none. */
function useChoices(path: string | undefined, active: boolean): Choices & { note?: string } {
  const read = useRead();
  const [found, setFound] = useState<Choices & { note?: string }>({ items: [], more: false });
  useEffect(() => {
    if (path === undefined || !active) {
      return undefined;
    }
    const ended = new AbortController();
    const timer = window.setTimeout(() => {
      read<Choices>(path, ended.signal).then(
        (choices) => {
          setFound(choices.more ? { ...choices, note: 'There are more values. Type to search.' } : choices);
        },
        (error: unknown) => {
          if (!ended.signal.aborted) {
            const { status, message } = error as RequestError;
            setFound({ items: [], more: false, note: noteFor(status, message) });
          }
        },
      );
    }, pause);
    return () => {
      window.clearTimeout(timer);
      ended.abort();
    };
  }, [read, path, active]);
  return path === undefined ? { items: [], more: false, note: noteFor(404, '') } : found;
}

/** LiveChoices is a field that suggests values from a cluster. Any text is allowed: the API server decides. */
function LiveChoices({ formData, onChange, schema, uiSchema, idSchema, registry, formContext, name, required, disabled, readonly, rawErrors }: FieldExtensionComponentProps<unknown>) {
  const { namespace, templateName } = useParams();
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(false);
  const many = isMany(schema);
  const values = Array.isArray(formData) ? (formData as unknown[]) : [];
  const given = typeof formData === 'string' || typeof formData === 'number' ? String(formData) : '';
  const text = many ? typed : given;
  const pointer = pointerOf(registry.rootSchema, idSchema.$id);
  const all = (formContext as { formData?: Record<string, unknown> } | undefined)?.formData ?? {};
  const path =
    pointer === undefined || namespace === undefined || templateName === undefined
      ? undefined
      : `/choices/${encodeURIComponent(namespace)}/${encodeURIComponent(templateName)}?${queryOf(pointer, all, text.trim())}`;
  const { items, note } = useChoices(path, active);
  const list = `${idSchema.$id}-choices`;
  const add = () => {
    if (many && typed.trim() !== '') {
      onChange([...values, readValue(typed.trim(), schema)]);
      setTyped('');
    }
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (many && e.key === 'Enter') {
      e.preventDefault();
      add();
    }
  };
  return (
    <ScaffolderField rawErrors={rawErrors} rawDescription={schema.description} required={required} disabled={disabled}>
      {values.length > 0 && (
        <Box display="flex" flexWrap="wrap" gridGap={4}>
          {values.map((value, i) => (
            <Chip
              key={i}
              size="small"
              label={String(value)}
              disabled={disabled || readonly}
              onDelete={() => {
                onChange(values.filter((_, j) => j !== i));
              }}
            />
          ))}
        </Box>
      )}
      <TextField
        id={idSchema.$id}
        label={uiSchema['ui:title'] ?? schema.title ?? name}
        placeholder={uiSchema['ui:placeholder']}
        value={text}
        onChange={(e) => {
          if (many) {
            setTyped(e.target.value);
            return;
          }
          onChange(e.target.value === '' ? undefined : readValue(e.target.value, schema));
        }}
        onFocus={() => {
          setActive(true);
        }}
        onBlur={add}
        onKeyDown={onKeyDown}
        margin="dense"
        required={required && !(many && values.length > 0)}
        disabled={disabled || readonly}
        error={rawErrors.length > 0}
        helperText={note ?? (many ? 'Press Enter to add a value.' : undefined)}
        FormHelperTextProps={{ role: 'status' }}
        inputProps={{ list, spellCheck: false, autoComplete: 'off', autoCapitalize: 'off' }}
      />
      <datalist id={list}>
        {items.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </datalist>
    </ScaffolderField>
  );
}

/** liveChoices is the form field. */
export const liveChoices = createFormField({ name: 'LiveChoices', component: LiveChoices });
