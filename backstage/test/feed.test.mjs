// The feed as it should not be: cut off, of another version, too large, from something that is no portal.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { ConfigReader } from '@backstage/config';
import { readFeed } from '../packages/backend/dist/feed.js';
import { Portal, choosePortal } from '../packages/backend/dist/portal.js';
import { PortalEntityProvider } from '../packages/backend/dist/provider.js';
import { createActions } from '../packages/backend/dist/actions.js';
import { ReadinessProcessor } from '../packages/backend/dist/processor.js';
import { createHandler } from '../packages/backend/dist/router.js';
import { readSettings } from '../packages/backend/dist/settings.js';

const head = (more = {}) => JSON.stringify({ feed: { version: 1, mode: 'full', words: 'upstream', position: 'p1', ...more } });
const entity = (name) => JSON.stringify({ apiVersion: 'backstage.io/v1alpha1', kind: 'System', metadata: { name }, spec: { owner: 'me' } });
const end = (entities, removed = 0, more = {}) => JSON.stringify({ end: { entities, removed, omittedCount: 0, ...more } });

async function* chunks(text, size) {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.slice(at, at + size);
  }
}

const read = (lines, { max = 100, size = 7 } = {}) => readFeed(chunks(lines.map((l) => `${l}\n`).join(''), size), max);

test('a feed is read in pieces of any size', async () => {
  for (const size of [1, 2, 3, 1000]) {
    const feed = await read([head(), entity('a'), entity('größe'), JSON.stringify({ remove: 'system:default/b' }), end(2, 1, { omitted: [{ entityRef: 'x', reason: 'y' }] })], { size });
    assert.deepEqual([feed.mode, feed.position, feed.entities.map((e) => e.metadata.name), feed.removed, feed.omitted.length], ['full', 'p1', ['a', 'größe'], ['system:default/b'], 1]);
  }
});

for (const [name, lines, message] of [
  ['nothing', [], /ended before it was complete/],
  ['no end', [head(), entity('a')], /ended before it was complete/],
  ['half a record', [head(), entity('a').slice(0, 20)], /JSON/],
  ['a wrong count', [head(), entity('a'), end(2)], /has 1 entities and 0 removals, but its end says 2 and 0/],
  ['records after the end', [head(), end(0), entity('a')], /records after its end/],
  ['a newer version', [head({ version: 2 }), end(0)], /version 2 of the feed and this package reads version 1: upgrade @ingestor\/backstage-backend/],
  ['an older version', [head({ version: 0 }), end(0)], /upgrade the portal/],
  ['no feed', [entity('a'), end(0)], /is not a feed; check the url/],
  ['too many entities', [head(), ...Array.from({ length: 101 }, (_, i) => entity(`e${i}`)), end(101)], /more than 100 entities/],
]) {
  test(`a feed with ${name} is refused`, async () => {
    await assert.rejects(read(lines), message);
  });
}

// A portal whose answers the tests choose.
let answer = () => ({ status: 500, body: '' });
const asked = [];
const server = createServer((req, res) => {
  let body = '';
  req.on('data', (d) => (body += d));
  req.on('end', () => {
    asked.push({ method: req.method, url: req.url, headers: req.headers, body });
    const { status = 200, headers = {}, body: text = '', cut = false } = answer(req);
    res.writeHead(status, headers);
    res.write(text);
    if (cut) {
      res.flushHeaders();
      setTimeout(() => res.destroy(), 20);
    } else {
      res.end();
    }
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const url = `http://127.0.0.1:${server.address().port}`;

const auth = {
  getOwnServiceCredentials: async () => ({ principal: { type: 'service' } }),
  getPluginRequestToken: async ({ onBehalfOf, targetPluginId }) => ({ token: `${onBehalfOf.principal.type}-${targetPluginId}` }),
  isPrincipal: (credentials, type) => credentials.principal.type === type,
};
const userInfo = { getUserInfo: async () => ({ ownershipEntityRefs: ['user:default/ada', 'group:default/shop'] }) };
const settings = { name: 'portal', url, filter: ['kind=system'], schedule: {}, maxEntities: 20_000 };
const portal = new Portal(settings, auth, userInfo);

function provider() {
  const said = [];
  const mutations = [];
  const log = (level) => (message) => said.push(`${level}: ${message}`);
  const p = new PortalEntityProvider(portal, { scheduleTask: async () => undefined }, { info: log('info'), warn: log('warn') });
  return { p, said, mutations, connected: p.connect({ applyMutation: async (m) => mutations.push(m) }) };
}

const feedOf = (lines) => ({ headers: { etag: '"e1"' }, body: lines.map((l) => `${l}\n`).join('') });

test('the provider applies a complete feed, then changes, and nothing else', async () => {
  const { p, said, mutations, connected } = provider();
  await connected;
  answer = () => feedOf([head(), entity('a'), entity('b'), end(2)]);
  await p.run();
  assert.deepEqual([mutations[0].type, mutations[0].entities.length, mutations[0].entities[0].locationKey], ['full', 2, 'ingestor:portal']);
  assert.equal(mutations[0].entities[0].entity.metadata.annotations['openportal.dev/portal'], 'portal');
  assert.match(mutations[0].entities[0].entity.metadata.annotations['backstage.io/managed-by-location'], /^url:http/);
  assert.match(asked.at(-1).url, /^\/api\/catalog\/feed.ndjson\?filter=kind%3Dsystem&words=upstream$/);
  assert.equal(asked.at(-1).headers.authorization, 'Bearer service-ingestor');

  answer = () => feedOf([head({ mode: 'delta', position: 'p2' }), entity('b'), JSON.stringify({ remove: 'system:default/a' }), end(1, 1)]);
  await p.run();
  assert.match(asked.at(-1).url, /since=p1/);
  assert.equal(asked.at(-1).headers['if-none-match'], '"e1"');
  assert.deepEqual([mutations[1].type, mutations[1].added.length, mutations[1].removed], ['delta', 1, [{ entityRef: 'system:default/a', locationKey: 'ingestor:portal' }]]);

  answer = () => ({ status: 304 });
  await p.run();
  answer = () => feedOf([head({ mode: 'delta', position: 'p3' }), end(0)]);
  await p.run();
  assert.equal(mutations.length, 2);

  // Failures change nothing, and are told once.
  const before = said.length;
  for (const bad of [
    () => ({ ...feedOf([head(), entity('a')]), cut: true }),
    () => feedOf([head(), entity('a')]),
    () => ({ status: 503, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { name: 'ServiceUnavailableError', message: 'later' } }) }),
    () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
  ]) {
    answer = bad;
    await p.run();
    await p.run();
  }
  assert.equal(mutations.length, 2);
  const warned = said.slice(before).filter((s) => s.startsWith('warn: '));
  assert.equal(warned.length, 4, warned.join('\n'));
  assert.ok(warned.every((s) => s.includes('its entities stay as they are')));
  answer = () => feedOf([head({ mode: 'delta', position: 'p4' }), end(0)]);
  await p.run();
  assert.match(said.at(-1), /is read again/);
  assert.match(asked.at(-1).url, /since=p3/);
});

test('ten thousand entities take little time and memory', async () => {
  const { p, mutations, connected } = provider();
  await connected;
  const large = Array.from({ length: 10_000 }, (_, i) => JSON.stringify({ apiVersion: 'backstage.io/v1alpha1', kind: 'System', metadata: { name: `e${i}`, description: 'x'.repeat(2000) }, spec: { owner: 'me' } }));
  answer = () => feedOf([head(), ...large, end(10_000)]);
  globalThis.gc?.();
  const [from, used] = [performance.now(), process.memoryUsage().heapUsed];
  await p.run();
  const [took, grown] = [performance.now() - from, process.memoryUsage().heapUsed - used];
  console.log(`10,000 entities of 2 KB: ${Math.round(took)} ms, ${Math.round(grown / 1e6)} MB`);
  assert.equal(mutations[0].entities.length, 10_000);
  assert.ok(took < 10_000 && grown < 300e6, `${took} ms, ${grown} bytes`);
});

test('errors of a portal say what to do', async () => {
  const refused = (message) => () => ({ status: 403, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { name: 'NotAllowedError', message }, request: { method: 'GET', url: '/x' }, response: { statusCode: 403 } }) });
  answer = refused('Failed user token verification');
  await assert.rejects(portal.json('/x'), /does not accept the tokens of this Backstage. Add it to auth.backstage/);
  answer = refused('Missing permission a.b');
  await assert.rejects(portal.json('/x'), /refused the request: Missing permission a.b/);
  const missing = (message) => () => ({ status: 404, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { name: 'NotFoundError', message }, request: { method: 'GET', url: '/x' }, response: { statusCode: 404 } }) });
  answer = missing('Nothing found at /x?a=b');
  await assert.rejects(portal.json('/x?a=b'), /is older than @ingestor\/backstage-backend: it has no \/x\. Upgrade the portal/);
  answer = missing("No entity 'a' found");
  await assert.rejects(portal.json('/x'), /Portal portal: No entity 'a' found/);
  answer = () => ({ body: '<html>' });
  await assert.rejects(portal.json('/x'), /returned no JSON/);
  const closed = createServer();
  await new Promise((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const away = `http://127.0.0.1:${closed.address().port}`;
  await new Promise((resolve) => closed.close(resolve));
  await assert.rejects(new Portal({ ...settings, url: away }, auth).json('/x'), /Portal portal does not answer at http:\/\/127.0.0.1:\d+: connect ECONNREFUSED/);
  assert.throws(() => choosePortal([portal, portal], undefined), /several portals/);
  assert.throws(() => choosePortal([portal], 'other'), /no portal 'other'/);
});

test('what a form lacks for choices is an error of the request', async () => {
  const annotations = { 'openportal.dev/portal': 'portal', 'backstage.io/managed-by-origin-location': `url:${url}/x` };
  const handler = createHandler({
    portals: [portal],
    httpAuth: { credentials: async () => ({ principal: { type: 'user' } }) },
    permissions: {},
    catalog: { getEntityByRef: async () => ({ metadata: { annotations } }) },
  });
  const message = "Choose a cluster first: request/query must have required property 'cluster'";
  answer = () => ({ status: 400, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { name: 'InputError', message }, request: { method: 'GET', url: '/x' }, response: { statusCode: 400 } }) });
  const error = await new Promise((next) => handler({ method: 'GET', path: '/choices/default/bucket', query: { field: '/class', cluster: ['a'] } }, {}, next));
  assert.deepEqual([error.name, error.message], ['InputError', `Portal portal: ${message}`], 'Backstage answers with the status of the name of an error');
  assert.equal(asked.at(-1).url, '/api/crossplane-ingestor/choices?template=template%3Adefault%2Fbucket&field=%2Fclass');
});

test('an action runs for the user, and goes on when the stream ends early', async () => {
  const streams = [
    `event: log\ndata: ${JSON.stringify({ id: 1, type: 'log', body: { message: 'one' } })}\n\n`,
    `event: log\ndata: ${JSON.stringify({ id: 2, type: 'log', body: { message: 'two' } })}\n\nevent: completion\ndata: ${JSON.stringify({ id: 3, type: 'completion', body: { message: 'done', output: { run: { resources: [1] } } } })}\n\n`,
  ];
  answer = (req) => (req.method === 'POST' ? { status: 201, headers: { 'content-type': 'application/json' }, body: '{"id":"t1"}' } : { body: streams.shift() });
  const apply = createActions([portal]).find((a) => a.id === 'kubernetes:apply');
  const [said, out] = [[], {}];
  const context = (more) => ({
    logger: { info: (m) => said.push(m), warn: (m) => said.push(m) },
    input: { manifest: { a: '${{ 1 }}' } },
    secrets: { backstageToken: 'b', __initiatorCredentials: 'c' },
    checkpoint: ({ fn }) => fn(),
    output: (name, value) => (out[name] = value),
    getInitiatorCredentials: async () => ({ principal: { type: 'user' } }),
    templateInfo: { entityRef: 'template:default/x', entity: { metadata: { name: 'x', annotations: { 'openportal.dev/portal': 'portal' } } } },
    ...more,
  });
  asked.length = 0;
  await apply.handler(context());
  assert.deepEqual(out, { resources: [1] });
  assert.deepEqual(said.slice(1), ['one', 'two']);
  const [posted, first, second] = asked;
  assert.equal(posted.headers.authorization, 'Bearer user-ingestor');
  assert.equal(posted.headers['backstage-ownership'], 'user:default/ada,group:default/shop');
  assert.deepEqual(JSON.parse(posted.body), { templateRef: 'template:default/x', input: { manifest: { a: '${{ 1 }}' } } });
  // The user's token may have expired by now.
  assert.equal(first.headers.authorization, 'Bearer service-ingestor');
  assert.match(second.url, /after=1$/);

  answer = (req) => (req.method === 'POST' ? { status: 201, headers: { 'content-type': 'application/json' }, body: '{"id":"t2"}' } : { body: `data: ${JSON.stringify({ id: 1, type: 'completion', body: { status: 'failed', error: { message: 'no room' } } })}\n\n` });
  await assert.rejects(apply.handler(context()), /Task t2 of portal portal failed: no room/);
  asked.length = 0;
  await assert.rejects(apply.handler(context({ secrets: { password: 's3cr3t' }, input: { manifest: [{ deep: 'is s3cr3t!' }] } })), /contains the secret 'password'/);
  assert.equal(asked.length, 0);
  await assert.rejects(apply.handler(context({ templateInfo: { entityRef: 'x', entity: { metadata: { name: 'x', annotations: { 'openportal.dev/portal': 'gone' } } } } })), /no portal 'gone'/);
});

test('readiness becomes a status', async () => {
  const of = async (spec, annotations = { 'openportal.dev/portal': 'portal' }, kind = 'Resource') => (await new ReadinessProcessor().postProcessEntity({ kind, metadata: { name: 'x', annotations }, spec })).status?.items;
  assert.deepEqual(await of({ readiness: 'not ready', readinessSince: '2026-01-01T00:00:00Z' }), [{ type: 'openportal.dev/readiness', level: 'warning', message: 'The resource is not ready since 2026-01-01T00:00:00Z.' }]);
  assert.equal((await of({ readiness: 'ready' }))[0].level, 'info');
  assert.equal(await of({ readiness: 'ready' }, {}), undefined);
  assert.equal(await of({ readiness: 'strange' }), undefined);
  assert.equal(await of({ readiness: 'ready' }, undefined, 'Component'), undefined);
});

test('settings are checked', () => {
  const of = (...portals) => readSettings(new ConfigReader({ ingestor: { portals } }));
  assert.deepEqual(of({ url: 'https://a.example.org/api/' })[0].url, 'https://a.example.org');
  assert.deepEqual(readSettings(new ConfigReader({})), []);
  assert.deepEqual(of({ url: 'https://a.example.org', filter: 'kind=api' })[0].filter, ['kind=api']);
  assert.throws(() => of({ url: 'ftp://a' }), /must be an http or https URL/);
  assert.throws(() => of({ url: 'https://u:p@a' }), /without credentials/);
  assert.throws(() => of({ url: 'https://a' }, { url: 'https://b' }), /two portals have the name 'portal'/);
  assert.throws(() => of({ url: 'https://a', name: 'A B' }), /lower-case letters/);
});
