/**
 * Reads the catalog of composite-resource portals into Backstage, and runs the actions of their Templates there.
 *
 * @packageDocumentation
 */
import { coreServices, createBackendFeatureLoader, createBackendModule, createBackendPlugin } from '@backstage/backend-plugin-api';
import { catalogProcessingExtensionPoint, catalogServiceRef } from '@backstage/plugin-catalog-node';
import { scaffolderActionsExtensionPoint } from '@backstage/plugin-scaffolder-node';
import { createActions } from './actions';
import { pluginId, Portal } from './portal';
import { ReadinessProcessor } from './processor';
import { PortalEntityProvider } from './provider';
import { createHandler, permissions } from './router';
import { readSettings } from './settings';

const catalogModule = createBackendModule({
  pluginId: 'catalog',
  moduleId: pluginId,
  register(env) {
    env.registerInit({
      deps: { catalog: catalogProcessingExtensionPoint, config: coreServices.rootConfig, auth: coreServices.auth, scheduler: coreServices.scheduler, logger: coreServices.logger },
      // eslint-disable-next-line @typescript-eslint/require-await -- Backstage wants a promise.
      async init({ catalog, config, auth, scheduler, logger }) {
        for (const settings of readSettings(config)) {
          catalog.addEntityProvider(new PortalEntityProvider(new Portal(settings, auth), scheduler, logger));
        }
        catalog.addProcessor(new ReadinessProcessor());
      },
    });
  },
});

const scaffolderModule = createBackendModule({
  pluginId: 'scaffolder',
  moduleId: pluginId,
  register(env) {
    env.registerInit({
      deps: { scaffolder: scaffolderActionsExtensionPoint, config: coreServices.rootConfig, auth: coreServices.auth, userInfo: coreServices.userInfo },
      // eslint-disable-next-line @typescript-eslint/require-await -- Backstage wants a promise.
      async init({ scaffolder, config, auth, userInfo }) {
        scaffolder.addActions(...createActions(readSettings(config).map((s) => new Portal(s, auth, userInfo))));
      },
    });
  },
});

const plugin = createBackendPlugin({
  pluginId,
  register(env) {
    env.registerInit({
      deps: {
        config: coreServices.rootConfig,
        auth: coreServices.auth,
        userInfo: coreServices.userInfo,
        httpAuth: coreServices.httpAuth,
        http: coreServices.httpRouter,
        permissions: coreServices.permissions,
        registry: coreServices.permissionsRegistry,
        catalog: catalogServiceRef,
      },
      // eslint-disable-next-line @typescript-eslint/require-await -- Backstage wants a promise.
      async init({ config, auth, userInfo, httpAuth, http, permissions: policy, registry, catalog }) {
        registry.addPermissions(permissions);
        const portals = readSettings(config).map((s) => new Portal(s, auth, userInfo));
        http.use(createHandler({ portals, httpAuth, permissions: policy, catalog }) as never);
      },
    });
  },
});

/**
 * The backend feature: `backend.add(import('@ingestor/backstage-backend'))`.
 *
 * @public
 */
const feature = createBackendFeatureLoader({
  *loader() {
    yield catalogModule;
    yield scaffolderModule;
    yield plugin;
  },
});

export default feature;
