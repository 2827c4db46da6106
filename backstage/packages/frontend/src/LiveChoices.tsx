import type { FieldExtensionComponentProps } from '@backstage/plugin-scaffolder-react';
import { createFormField, ScaffolderField } from '@backstage/plugin-scaffolder-react/alpha';
import Box from '@material-ui/core/Box';
import Chip from '@material-ui/core/Chip';
import TextField from '@material-ui/core/TextField';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { useParams } from 'react-router-dom';
import { useRead, type RequestError } from './api';
import { isMany, noteFor, noteOf, pointerOf, queryOf, readValue, type Choices } from './choices';

// pause is how long after the last key choices are read, in milliseconds.
const pause = 200;

type Shown = Choices & { note?: string | undefined };

const nothing: Shown = { items: [], more: false };

/**
 * useChoices returns the choices of a field once the user has come to it, and why there are none. list is the path of all
 * choices; while another search runs, those of the last one are returned, but not those of another list.
 */
function useChoices(list: string | undefined, search: string, active: boolean): Shown {
  const read = useRead();
  const [found, setFound] = useState<Shown & { list?: string }>(nothing);
  useEffect(() => {
    if (list === undefined || !active) {
      return undefined;
    }
    const ended = new AbortController();
    const timer = window.setTimeout(() => {
      read<Choices>(search === '' ? list : `${list}&${new URLSearchParams({ search })}`, ended.signal).then(
        (choices) => {
          setFound({ ...choices, list, note: noteOf(choices, search) });
        },
        (error: unknown) => {
          if (!ended.signal.aborted) {
            const { status, message } = error as RequestError;
            setFound({ ...nothing, list, note: noteFor(status, message) });
          }
        },
      );
    }, pause);
    return () => {
      window.clearTimeout(timer);
      ended.abort();
    };
  }, [read, list, search, active]);
  if (list === undefined) {
    return { ...nothing, note: noteFor(404, '') };
  }
  return found.list === list ? found : nothing;
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
      : `/choices/${encodeURIComponent(namespace)}/${encodeURIComponent(templateName)}?${queryOf(registry.rootSchema, pointer, all)}`;
  const { items, note } = useChoices(path, text.trim(), active);
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
