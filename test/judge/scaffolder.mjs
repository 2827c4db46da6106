// The real scaffolder on loopback: its own router, worker, database and actions.
// The services of a portal around it are minimal: every caller is one user with all
// permissions, and the catalog has the Templates that were put into it. The first
// line on standard output is its URL. It ends when standard input is closed.
//
// Actions are debug:log under the names it is given.
//
//	node scaffolder.mjs <folder of node_modules> <user> <action>...
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const modules = resolve(process.argv[2]);
const load = createRequire(join(modules, 'judge.cjs'));
const version = (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'))).version;
const backend = '@backstage/plugin-scaffolder-backend';
// It is imported by its file, as the package does not export it.
const { createRouter } = load(join(modules, backend, 'dist/service/router.cjs.js'));
const { createDebugLogAction } = load(join(modules, backend, 'dist/scaffolder/actions/builtin/debug/log.cjs.js'));
const { ConfigReader } = load('@backstage/config');
const { parseEntityRef, stringifyEntityRef } = load('@backstage/catalog-model');
const express = load('express');
const knex = load('knex');

const log = createDebugLogAction();
const work = mkdtempSync(join(tmpdir(), 'judge-'));
const database = knex({ client: 'better-sqlite3', connection: ':memory:', useNullAsDefault: true, pool: { min: 1, max: 1 } });
const logger = { error: console.error, warn: () => {}, info: () => {}, debug: () => {}, child: () => logger };
const credentials = { principal: { type: 'user', userEntityRef: process.argv[3] }, token: 'a-token-of-nobody' };
const templates = new Map();
const allow = async (asked) => asked.map(() => ({ result: 'ALLOW' }));
const meter = { add: () => {}, record: () => {} };

const router = await createRouter({
  logger,
  config: new ConfigReader({ backend: { workingDirectory: work } }),
  database: { getClient: async () => database },
  catalog: {
    getEntityByRef: async (ref) => templates.get(stringifyEntityRef(typeof ref === 'string' ? parseEntityRef(ref) : ref)),
  },
  actions: process.argv.slice(4).map((id) => ({ ...log, id, schema: id === log.id ? log.schema : {} })),
  permissions: { authorize: allow, authorizeConditional: allow },
  permissionsRegistry: { addResourceType: () => {}, addPermissions: () => {} },
  auth: {
    isPrincipal: (c, type) => c.principal.type === type,
    getPluginRequestToken: async () => ({ token: 'a-token-of-nobody' }),
    getOwnServiceCredentials: async () => ({ principal: { type: 'service', subject: 'judge' } }),
  },
  httpAuth: { credentials: async () => credentials },
  actionsRegistry: { list: async () => ({ actions: [] }) },
  metrics: { createCounter: () => meter, createHistogram: () => meter, createGauge: () => meter },
});

const app = express();
app.put('/template', express.json({ limit: '10MB' }), (req, res) => {
  templates.set(stringifyEntityRef(req.body), req.body);
  res.status(204).end();
});
app.get('/versions', (_req, res) => {
  const used = [backend, '@backstage/plugin-scaffolder-node', 'nunjitsu', 'jsonschema'];
  res.json({ node: process.versions.node, ...Object.fromEntries(used.map((name) => [name, version(name)])) });
});
app.use(router);
app.use((err, _req, res, _next) => {
  res.status(500).json({ error: { name: err.name, message: err.message } });
});
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => {
  rmSync(work, { recursive: true, force: true });
  process.exit(0);
}).resume();
