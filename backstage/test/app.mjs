// A Backstage frontend as create-app makes it, with the plugin of this workspace.
import { createApp } from '@backstage/frontend-defaults';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import catalogGraphPlugin from '@backstage/plugin-catalog-graph/alpha';
import scaffolderPlugin from '@backstage/plugin-scaffolder/alpha';
import '@backstage/ui/css/styles.css';
import { createRoot } from 'react-dom/client';
import ingestorPlugin from '../packages/frontend/dist/index.js';

const app = createApp({ features: [catalogPlugin, catalogGraphPlugin, scaffolderPlugin, ingestorPlugin] });

createRoot(document.getElementById('root')).render(app.createRoot());
