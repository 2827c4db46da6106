// A Backstage backend as create-app makes it, with the module of this workspace, and a policy of the tests.
import { createBackend } from '@backstage/backend-defaults';
import { createBackendModule } from '@backstage/backend-plugin-api';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { policyExtensionPoint } from '@backstage/plugin-permission-node/alpha';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

// The policy refuses the state of ingestion while the workspace has a file named refuse-ingestion.
const refused = join(import.meta.dirname, '..', 'refuse-ingestion');
const policy = createBackendModule({
  pluginId: 'permission',
  moduleId: 'test-policy',
  register({ registerInit }) {
    registerInit({
      deps: { policies: policyExtensionPoint },
      async init({ policies }) {
        policies.setPolicy({
          handle: async ({ permission }) => ({ result: permission.name === 'ingestor.ingestion.read' && existsSync(refused) ? AuthorizeResult.DENY : AuthorizeResult.ALLOW }),
        });
      },
    });
  },
});

const backend = createBackend();
for (const feature of [
  import('@backstage/plugin-auth-backend'),
  import('@backstage/plugin-auth-backend-module-guest-provider'),
  import('@backstage/plugin-catalog-backend'),
  import('@backstage/plugin-catalog-backend-module-scaffolder-entity-model'),
  import('@backstage/plugin-permission-backend'),
  policy,
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
