import { createFrontendPlugin, createRouteRef, PageBlueprint, type OverridableFrontendPlugin } from '@backstage/frontend-plugin-api';
import { EntityContentBlueprint } from '@backstage/plugin-catalog-react/alpha';
import { FormFieldBlueprint } from '@backstage/plugin-scaffolder-react/alpha';
import { templateRouteRef } from './DayTwo';
import { isRunning } from './entity';

const ingestionRouteRef = createRouteRef();

const icon = (
  <svg width="1em" height="1em" viewBox="0 0 24 24" fill="currentColor" aria-hidden>
    <path d="M12 2 3 6.5v11L12 22l9-4.5v-11zm0 2.2 6.2 3.1L12 10.4 5.8 7.3zM5 9.1l6 3v7.3l-6-3zm8 10.3v-7.3l6-3v7.3z" />
  </svg>
);

/**
 * The plugin: a tab with the state of running resources, a page with the state of ingestion, and the fields of forms
 * that Backstage lacks.
 *
 * @public
 */
const plugin: OverridableFrontendPlugin = createFrontendPlugin({
  pluginId: 'ingestor',
  title: 'Ingestion',
  icon,
  routes: { root: ingestionRouteRef },
  externalRoutes: { template: templateRouteRef },
  extensions: [
    FormFieldBlueprint.make({ name: 'yaml-text', params: { field: () => import('./YamlText').then((m) => m.yamlText) } }),
    FormFieldBlueprint.make({ name: 'live-choices', params: { field: () => import('./LiveChoices').then((m) => m.liveChoices) } }),
    EntityContentBlueprint.make({
      name: 'resource',
      params: { path: '/resource', title: 'Resource', filter: isRunning, loader: () => import('./ResourceTab').then((m) => <m.ResourceTab />) },
    }),
    PageBlueprint.make({
      params: { path: '/ingestion', title: 'Ingestion', icon, routeRef: ingestionRouteRef, loader: () => import('./IngestionPage').then((m) => <m.IngestionPage />) },
    }),
  ],
});

export default plugin;
