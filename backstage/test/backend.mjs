// A Backstage backend as create-app makes it, with the module of this workspace.
import { createBackend } from '@backstage/backend-defaults';

const backend = createBackend();
for (const feature of [
  import('@backstage/plugin-auth-backend'),
  import('@backstage/plugin-auth-backend-module-guest-provider'),
  import('@backstage/plugin-catalog-backend'),
  import('@backstage/plugin-catalog-backend-module-scaffolder-entity-model'),
  import('@backstage/plugin-permission-backend'),
  import('@backstage/plugin-permission-backend-module-allow-all-policy'),
  import('@backstage/plugin-scaffolder-backend'),
  import('@backstage/plugin-scaffolder-backend-module-github'),
  import('@backstage/plugin-scaffolder-backend-module-gitlab'),
  import('@backstage/plugin-scaffolder-backend-module-bitbucket-server'),
]) {
  backend.add(feature);
}
if (process.env.WITHOUT_INGESTOR !== '1') {
  backend.add(import('../packages/backend/dist/index.js'));
}
await backend.start();
