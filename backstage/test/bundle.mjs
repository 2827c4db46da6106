// Bundles the frontend into a folder, with an index.html that has its configuration.
// Usage: node bundle.mjs FOLDER URL
import { build } from 'esbuild';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [folder, url] = process.argv.slice(2);
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: { app: 'app.mjs' },
  outdir: folder,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  // As the bundler of Backstage: packages of Node that some of its packages name.
  alias: { stream: 'readable-stream' },
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.APP_CONFIG': '[]', global: 'globalThis' },
  inject: ['shims.mjs'],
  loader: { '.woff': 'dataurl', '.woff2': 'dataurl', '.svg': 'dataurl', '.png': 'dataurl', '.md': 'text' },
  publicPath: '/',
  legalComments: 'none',
  logLevel: 'warning',
});
const config = [{ context: 'test', data: { app: { title: 'Backstage', baseUrl: url }, backend: { baseUrl: url }, organization: { name: 'Example' }, auth: { environment: 'development' } } }];
await writeFile(
  join(folder, 'index.html'),
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Backstage</title><base href="/"><link rel="icon" href="data:,"><link rel="stylesheet" href="/app.css"><script type="backstage.io/config">${JSON.stringify(config)}</script></head><body><div id="root"></div><script type="module" src="/app.js"></script></body></html>`,
);
