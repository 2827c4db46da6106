import { parseDocument, stringify, visit } from 'yaml';

/** The value of a text, or the problem with it. */
export interface Parsed {
  value?: unknown;
  problem?: string;
}

// The YAML 1.1 spellings of booleans.
const yes = /^(?:y|Y|yes|Yes|YES|on|On|ON)$/;
const no = /^(?:n|N|no|No|NO|off|Off|OFF)$/;

/** typesOf returns the types that a schema allows. */
export function typesOf(schema: { type?: unknown }): string[] {
  return [schema.type ?? []].flat() as string[];
}

/** parseYaml parses a text. A blank text has no value. */
export function parseYaml(text: string, types: string[]): Parsed {
  const doc = parseDocument(text, { prettyErrors: true, uniqueKeys: true, merge: false });
  const error = doc.errors[0];
  if (error) {
    const at = error.linePos?.[0];
    const what = (error.message.split('\n')[0] ?? '').replace(/ at line \d+.*$/, '');
    return { problem: at ? `Line ${at.line}, column ${at.col}: ${what}` : what };
  }
  // kubectl reads them as booleans unless they are quoted. Keys stay text.
  visit(doc, {
    Scalar(key, node) {
      if (key !== 'key' && node.type === 'PLAIN' && typeof node.value === 'string' && (yes.test(node.value) || no.test(node.value))) {
        node.value = yes.test(node.value);
      }
    },
  });
  let value: unknown;
  try {
    // Aliases can expand a small text to a huge value.
    value = doc.toJS({ maxAliasCount: 50 });
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  if (value === null || value === undefined) {
    return {};
  }
  const type = typeof value === 'object' ? (Array.isArray(value) ? 'array' : 'object') : undefined;
  if (types.includes('object') && !types.includes('string') && type !== 'object') {
    return { problem: 'Line 1: must be an object, such as "key: value"' };
  }
  if (types.includes('array') && !types.includes('string') && type !== 'array') {
    return { problem: 'Line 1: must be a list, such as "- value"' };
  }
  return { value };
}

// broken are the texts that could not be parsed. Until a text can be, it is the value of its field: the form then keeps it,
// and is invalid. Where any value is allowed, nothing else tells such a text from a value.
const broken = new Map<string, string>();

/** readYaml returns the value of a field for a text: what the text contains, or the text if it cannot be parsed. */
export function readYaml(text: string, types: string[]): unknown {
  const { value, problem } = parseYaml(text, types);
  if (problem === undefined) {
    return value;
  }
  broken.set(text, problem);
  return text;
}

/** problemWith returns why the value of a field is a text that could not be parsed. */
export function problemWith(value: unknown, types: string[]): string | undefined {
  if (typeof value !== 'string') {
    return undefined;
  }
  return types.includes('string') ? broken.get(value) : parseYaml(value, types).problem;
}

/** writeYaml returns the text for the value of a field. */
export function writeYaml(value: unknown, types: string[]): string {
  if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) {
    return '';
  }
  if (typeof value === 'string' && (!types.includes('string') || broken.has(value))) {
    return value;
  }
  return stringify(value, { version: '1.1', lineWidth: 0 });
}
