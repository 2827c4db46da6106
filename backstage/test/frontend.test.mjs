import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isMany, noteFor, noteOf, pointerOf, queryOf, readValue } from '../packages/frontend/dist/choices.js';
import { hasField, isRunning, objectOf, templateFor } from '../packages/frontend/dist/entity.js';
import { valuesForAddress } from '../packages/frontend/dist/form.js';
import { targetsOf } from '../packages/frontend/dist/targets.js';
import { parseYaml, problemWith, readYaml, writeYaml } from '../packages/frontend/dist/yaml.js';

const anything = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

for (const [name, { reason, text, types = ['object'], want }] of Object.entries({
  object: { reason: 'a field has the value that its text contains', text: 'a: [1, x]\n', want: { value: { a: [1, 'x'] } } },
  blank: { reason: 'a blank text has no value, so that an optional field is left out', text: ' \n', want: {} },
  comment: { reason: 'a comment is not a value', text: '# none\n', want: {} },
  booleans: { reason: 'kubectl reads them as booleans unless they are quoted', text: 'a: on\nb: "on"\nno: x\n', want: { value: { a: true, b: 'on', no: 'x' } } },
  line: { reason: 'an error names its line', text: 'a: 1\nb: "x\n', want: { problem: 'Line 3, column 1: Missing closing "quote' } },
  twice: { reason: 'a key that is there twice would lose a value', text: 'a: 1\na: 2\n', want: { problem: 'Line 2, column 1: Map keys must be unique' } },
  list: { reason: 'a list is no object', text: '- a\n', want: { problem: 'Line 1: must be an object, such as "key: value"' } },
  noList: { reason: 'an object is no list', text: 'a: 1\n', types: ['array', 'null'], want: { problem: 'Line 1: must be a list, such as "- value"' } },
  anything: { reason: 'where anything is allowed, a text is', text: 'x\n', types: anything, want: { value: 'x' } },
  aliases: { reason: 'aliases can expand a small text to a huge value', text: 'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n', want: { problem: 'Excessive alias count indicates a resource exhaustion attack' } },
})) {
  test(`parse YAML: ${name}`, () => {
    assert.deepEqual(parseYaml(text, types), want, reason);
  });
}

for (const [name, { reason, value, types = ['object'], want }] of Object.entries({
  none: { reason: 'an empty object is an empty field', value: {}, want: '' },
  object: { reason: 'a prefilled value is YAML', value: { a: { b: ['on', 1] } }, want: 'a:\n  b:\n    - "on"\n    - 1\n' },
  text: { reason: 'a text of an object cannot be parsed yet', value: 'a: [', want: 'a: [' },
  anyText: { reason: 'a text that looks like another value stays a text', value: 'true', types: anything, want: '"true"\n' },
})) {
  test(`write YAML: ${name}`, () => {
    const text = writeYaml(value, types);
    assert.equal(text, want, reason);
    assert.deepEqual(writeYaml(readYaml(text, types), types), text, 'a field keeps its value when its page is shown again');
  });
}

test('a text that cannot be parsed makes a field invalid, also if any value is allowed', () => {
  for (const types of [['object'], anything]) {
    const value = readYaml('a: [1\n', types);
    assert.equal(value, 'a: [1\n');
    assert.match(problemWith(value, types), /^Line 2, column 1: /);
    assert.equal(writeYaml(value, types), value);
  }
  assert.equal(problemWith('a: [1', anything), undefined, 'a text that was never typed is a value');
});

const annotations = { 'openportal.dev/portal': 'portal', 'backstage.io/discovered-from': 'dev', 'crossplane.terasky.io/xr-name': 'shop', 'crossplane.io/xrd-version': 'v2', 'backstage.io/kubernetes-namespace': 'team' };
const resource = { apiVersion: 'v1', kind: 'Resource', metadata: { name: 'shop', annotations }, spec: { type: 'crossplane-xr' } };

test('the tab is for resources that were read from a cluster', () => {
  assert.equal(isRunning(resource), true);
  assert.equal(isRunning({ ...resource, spec: { type: 'crossplane-xrd' } }), false, 'a definition does not run');
  assert.equal(isRunning({ ...resource, metadata: { name: 'x', annotations: { ...annotations, 'backstage.io/discovered-from': undefined } } }), false, 'a file has no state');
  assert.deepEqual(objectOf(resource), { name: 'shop', namespace: 'team', cluster: 'dev' });
});

test('the Template of the same version is preferred', () => {
  const of = (name, purpose, version) => ({ metadata: { name, annotations: { 'backstage.io/template-purpose': purpose, 'crossplane.io/xrd-version': version } } });
  const templates = [of('a', undefined, 'v2'), of('b', 'update', 'v1'), of('c', 'update', 'v2'), of('d', 'delete', 'v1')];
  assert.equal(templateFor(resource, templates, 'update').metadata.name, 'c');
  assert.equal(templateFor(resource, templates, 'delete').metadata.name, 'd');
  assert.equal(templateFor(resource, [], 'delete'), undefined);
});

test('a form has the fields of all its pages', () => {
  const template = { spec: { parameters: [{ properties: { name: {} } }, { title: 'Empty' }, { properties: { cluster: {} } }] } };
  assert.deepEqual(['name', 'cluster', 'toString'].map((f) => hasField(template, f)), [true, true, false]);
  assert.equal(hasField({ spec: { parameters: { properties: { name: {} } } } }, 'name'), true, 'a form of one page need not be a list');
});

test('passwords are not part of an address', () => {
  const password = { 'ui:widget': 'password' };
  const schema = { properties: { token: password, db: { properties: { pass: password, user: {} } }, users: { items: { properties: { pass: password } } } } };
  const values = { name: 'x', token: 's', db: { pass: 's', user: 'u' }, users: [{ pass: 's' }] };
  assert.deepEqual(valuesForAddress({ steps: [{ schema: {} }, { schema }], values }), { name: 'x', db: { user: 'u' }, users: [{ pass: 's' }] });
  assert.deepEqual(valuesForAddress({ steps: [] }), {});
});

test('sources are grouped by what they read, and the worst comes first', () => {
  const targets = targetsOf([
    { name: 'composerIngestor/sources/files', state: 'connected', lastSuccess: '2', definitions: { found: 4, selected: 0, message: 'none selected' } },
    { name: 'composerIngestor/dev', cluster: 'dev', state: 'connected', lastSuccess: '3', objects: { 'composites a': 1, 'composites b': 2 } },
    { name: 'clusterIngestor/dev', cluster: 'dev', state: 'unreachable', lastSuccess: '1', objects: { 'composites a': 1 }, lastError: 'no route', hint: 'check it', problemCount: 2 },
    { name: 'composerIngestor/new', cluster: 'new', state: 'waiting' },
  ]);
  assert.deepEqual(
    targets.map((t) => [t.name, t.state, t.lastSuccess, Object.fromEntries(t.counts), t.problems, t.errors.map((e) => e.message)]),
    [
      ['dev', 'unreachable', '1', { composites: 3 }, 2, ['no route']],
      ['new', 'waiting', undefined, {}, 0, []],
      ['files', 'connected', '2', { definitions: 4 }, 0, ['none selected']],
    ],
  );
});

test('a field with choices is named by its place in the form', () => {
  const schema = { properties: { a: { properties: { b_c: {}, 'x/y': {} } }, a_b: {}, disks: { items: { properties: { class: {} } } }, more: { additionalProperties: {} } } };
  for (const [id, want] of Object.entries({
    root_a_b_c: '/a/b_c',
    root_a_b: '/a_b',
    'root_a_x/y': '/a/x~1y',
    root_disks_12_class: '/disks/12/class',
    root_more_any: '/more/any',
    root_nothing: undefined,
    root: undefined,
  })) {
    assert.equal(pointerOf(schema, id), want, id);
  }
  const conditional = { dependencies: { mode: { oneOf: [{ properties: { f: {} } }] } }, allOf: [{ then: { properties: { g: {} } } }] };
  assert.deepEqual([pointerOf(conditional, 'root_f'), pointerOf(conditional, 'root_g')], ['/f', '/g'], 'a field that another one shows is found');
});

test('choices are those of the cluster and namespace of the form', () => {
  const page = (...names) => ({ properties: Object.fromEntries(names.map((n) => [n, {}])) });
  assert.equal(queryOf(page('a'), '/a', { deliveryCluster: 'dev', cluster: 'cassandra', namespace: 'team', a: 'x' }), 'field=%2Fa&cluster=dev&namespace=team');
  assert.equal(queryOf(page('a'), '/a', { cluster: 'dev', namespace: 1 }), 'field=%2Fa&cluster=dev');
  assert.equal(queryOf(page('deliveryCluster', 'cluster'), '/a', { cluster: 'cassandra' }), 'field=%2Fa', 'the cluster is not chosen yet');
});

test('a field without choices says why', () => {
  assert.equal(noteFor(403, 'Missing permission'), 'You may not list these objects in the cluster. Enter a value.');
  assert.equal(noteFor(503, ''), 'The cluster cannot be reached. Enter a value.');
  assert.equal(noteFor(400, 'Choose a cluster first: request/query must have …'), 'Choose a cluster first, or enter a value.');
  assert.equal(noteFor(400, 'Portal main: Choose a namespace first: request/query/namespace must be …'), 'Choose a namespace first, or enter a value.');
  assert.equal(noteFor(400, 'Portal main: request/query/search must be string'), 'There are no suggestions for this field. Enter a value.');
  assert.equal(noteFor(404, ''), 'There are no suggestions for this field. Enter a value.');
  assert.equal(noteFor(0, ''), 'Cannot read suggestions. Enter a value.');
});

test('a field says whether there are more choices, or none', () => {
  const items = [{ value: 'a' }];
  assert.equal(noteOf({ items, more: false }, ''), undefined);
  assert.equal(noteOf({ items, more: true }, 'a'), 'There are more values. Type to search.');
  assert.equal(noteOf({ items: [], more: false }, ''), 'There are no suggestions for this field. Enter a value.');
  assert.equal(noteOf({ items: [], more: false }, 'x'), undefined, 'any other value can be typed');
});

test('a value has the type of its field', () => {
  assert.deepEqual(['12', ' -3 ', 'x', '1.5'].map((text) => readValue(text, { type: 'integer' })), [12, -3, 'x', '1.5']);
  assert.equal(readValue('12', { type: 'string' }), '12');
  assert.equal(readValue('12', { type: 'array', items: { type: 'integer' } }), 12);
  assert.deepEqual([isMany({ type: ['array', 'null'] }), isMany({ type: 'string' })], [true, false]);
});
