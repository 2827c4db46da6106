// Two catalogs on loopback: the router, the queries and the database of the real one, and
// the in-memory client of its tests. Both have the entities that were put into them. The
// first line on standard output is the address. It ends when standard input is closed.
//
//	node judge.mjs <folder of node_modules> <address of a PostgreSQL database>
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const modules = resolve(process.argv[2]);
const load = createRequire(join(modules, 'judge.cjs'));
const backend = '@backstage/plugin-catalog-backend';
// Files that the packages do not export are imported by their path.
const file = (name, path) => load(join(modules, name, 'dist', path));
const { createRouter } = file(backend, 'service/createRouter.cjs.js');
const { DefaultEntitiesCatalog } = file(backend, 'service/DefaultEntitiesCatalog.cjs.js');
const { applyDatabaseMigrations } = file(backend, 'database/migrations.cjs.js');
const { buildEntitySearch } = file(backend, 'database/operations/stitcher/buildEntitySearch.cjs.js');
const { CATALOG_FILTER_EXISTS } = load('@backstage/catalog-client');
const { InMemoryCatalogClient } = load('@backstage/catalog-client/testUtils');
const { stringifyEntityRef } = load('@backstage/catalog-model');
const { ConfigReader } = load('@backstage/config');
const express = load('express');
const knex = load('knex');

// The in-memory client walks each entity for each request. The result is kept.
const walked = new WeakMap();
const walker = file('@backstage/catalog-client', 'plugins/catalog-backend/src/database/operations/stitcher/buildEntitySearch.cjs.js');
const { traverse } = walker;
walker.traverse = (entity) => {
  if (!walked.has(entity)) walked.set(entity, traverse(entity));
  return [...walked.get(entity)];
};

// Text is compared by code point, as in SQLite, so that the order does not depend on the
// locale of the server.
const at = new URL(process.argv[3]);
const first = knex({ client: 'pg', connection: at.href });
const name = `${at.pathname.slice(1)}_judge`;
await first.raw("CREATE DATABASE ?? TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'", [name]);
await first.destroy();
at.pathname = `/${name}`;
const database = knex({ client: 'pg', connection: at.href, pool: { min: 0, max: 4 } });
await applyDatabaseMigrations(database);

const logger = { error: console.error, warn: () => {}, info: () => {}, debug: () => {}, child: () => logger };
const event = { success: async () => {}, fail: async () => {} };
const router = await createRouter({
  entitiesCatalog: new DefaultEntitiesCatalog({ database, logger }),
  config: new ConfigReader({}),
  logger,
  auth: {},
  httpAuth: { credentials: async () => ({ principal: { type: 'user' } }) },
  auditor: { createEvent: async () => event },
  permissionsService: {},
});

let memory = new InMemoryCatalogClient();
let copy = '[]';
const exists = (f) => Object.fromEntries(Object.entries(f).map(([key, v]) => [key, v === null ? CATALOG_FILTER_EXISTS : v]));

// fill puts the entities into both. Ids are in the order of references, by which equal
// entities are then sorted. It returns the rows of the index.
const fill = async (entities) => {
  const rows = [];
  const now = new Date().toISOString();
  const sorted = entities.map((e) => [stringifyEntityRef(e), e]).sort(([a], [b]) => (a < b ? -1 : 1));
  const states = [], finals = [];
  for (const [i, [ref, e]] of sorted.entries()) {
    const id = String(i).padStart(6, '0');
    const json = JSON.stringify(e);
    states.push({ entity_id: id, entity_ref: ref, unprocessed_entity: json, errors: '[]', next_update_at: now, last_discovery_at: now });
    finals.push({ entity_id: id, entity_ref: ref, hash: id, final_entity: json, last_updated_at: now });
    rows.push(...buildEntitySearch(id, e));
  }
  await database.batchInsert('refresh_state', states, 100);
  await database.batchInsert('final_entities', finals, 100);
  await database.batchInsert('search', rows, 1000);
  await database.raw('ANALYZE');
  memory = new InMemoryCatalogClient({ entities: sorted.map(([, e]) => e) });
  copy = JSON.stringify(sorted.map(([, e]) => e));
  return rows.map((r) => ({ ref: sorted[Number(r.entity_id)][0], key: r.key, value: r.value }));
};

const app = express();
app.put('/entities', express.json({ limit: '50MB' }), (req, res, next) => {
  fill(req.body).then((rows) => res.json(rows), next);
});
app.get('/versions', (_req, res) => {
  const version = (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'))).version;
  res.json(Object.fromEntries([backend, '@backstage/catalog-client', '@backstage/filter-predicates'].map((name) => [name, version(name)])));
});
// A filter of the in-memory client has null for a key that must exist.
app.post('/memory/:method', express.json({ limit: '1MB' }), (req, res, next) => {
  const request = req.body;
  if (request.filter) request.filter = request.filter.map(exists);
  // A field below another one is set in the entity itself, so that such a request needs entities of its own.
  const nested = request.fields?.some((f) => request.fields.some((below) => below.startsWith(`${f}.`)));
  const client = nested ? new InMemoryCatalogClient({ entities: JSON.parse(copy) }) : memory;
  client[req.params.method](request).then((out) => {
    // The rest of whole entities is compared nowhere.
    if (out.items && !request.fields) out.items = out.items.map(({ kind, metadata: { name, namespace } }) => ({ kind, metadata: { name, namespace } }));
    res.json(out);
  }, next);
});
app.use('/real', router);
app.use((err, _req, res, _next) => {
  const status = err.name === 'InputError' ? 400 : (err.status ?? err.statusCode ?? 500);
  res.status(status).json({ error: { name: err.name, message: err.message } });
});
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
