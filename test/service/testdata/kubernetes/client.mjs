// Drives the portal with the clients of Backstage's Kubernetes plugin, and prints what they return as JSON.
//
// Usage: node client.mjs <node_modules> <base URL> <token> <entity as JSON>
import { pathToFileURL } from "node:url";

const [modules, base, token, text] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(`${modules}/@backstage/${file}`).href);

// The index of the package imports React, Material UI and a terminal, which package.json replaces by an empty package. The
// clients need none of them.
const { KubernetesBackendClient } = await load("plugin-kubernetes-react/dist/api/KubernetesBackendClient.esm.js");
const { KubernetesProxyClient } = await load("plugin-kubernetes-react/dist/api/KubernetesProxyClient.esm.js");
const { KubernetesAuthProviders } = await load("plugin-kubernetes-react/dist/kubernetes-auth-provider/KubernetesAuthProviders.esm.js");
const { generateAuth } = await load("plugin-kubernetes-react/dist/hooks/auth.esm.js");
const { default: common } = await load("plugin-kubernetes-common/dist/index.cjs.js");

const kubernetesAuthProvidersApi = new KubernetesAuthProviders({ microsoftAuthApi: {}, googleAuthApi: {} });
const client = new KubernetesBackendClient({
  discoveryApi: { getBaseUrl: async (plugin) => `${base}/api/${plugin}` },
  fetchApi: { fetch: (url, init = {}) => fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }) },
  kubernetesAuthProvidersApi,
});
const proxy = new KubernetesProxyClient({ kubernetesApi: client });
const entity = JSON.parse(text);
const other = { ...entity, metadata: { ...entity.metadata, name: "missing" } };

// attempt returns the result of a call, or the message of its error.
async function attempt(call) {
  try {
    return await call();
  } catch (error) {
    return { error: error.message };
  }
}

// summary returns the names of the objects of each type, as the plugin groups them.
function summary({ error, items }) {
  if (error) {
    return { error };
  }
  return Object.fromEntries(
    items.map(({ cluster, resources, podMetrics, errors }) => {
      const grouped = Object.entries(common.groupResponses(resources)).map(([type, all]) => [type, all.map((o) => o.metadata.name)]);
      return [cluster.name, { objects: Object.fromEntries(grouped.filter(([, all]) => all.length > 0)), podMetrics, errors }];
    }),
  );
}

const auth = await attempt(() => generateAuth(entity, client, kubernetesAuthProvidersApi));
const objects = await attempt(() => client.getObjectsByEntity({ entity, auth }));
const custom = (group, apiVersion, plural) => attempt(() => client.getCustomObjectsByEntity({ entity, auth, customResources: [{ group, apiVersion, plural }] }));
const pod = { podName: "web-1", namespace: "shop", clusterName: "prod", containerName: "web" };
const detected = objects.error ? objects : [...common.detectErrors(objects)].map(([cluster, all]) => [cluster, all.map((e) => `${e.type} ${e.sourceRef.name} ${e.proposedFix?.errorType ?? ""}`)]);

console.log(
  JSON.stringify({
    clusters: await attempt(() => client.getClusters()),
    auth,
    objects: summary(objects),
    detected: Object.fromEntries(detected),
    workloads: summary(await attempt(() => client.getWorkloadsByEntity({ entity, auth }))),
    custom: summary(await custom("platform.example.org", "v1", "rollouts")),
    notServed: summary(await custom("platform.example.org", "v1", "others")),
    secrets: summary(await custom("", "v1", "secrets")),
    missing: summary(await attempt(() => client.getWorkloadsByEntity({ entity: other, auth }))),
    log: await attempt(() => proxy.getPodLogs({ ...pod, previous: true })),
    events: await attempt(async () => (await proxy.getEventsByInvolvedObjectName({ clusterName: "prod", namespace: "shop", involvedObjectName: "web-1" })).map((e) => e.message)),
    removal: await attempt(() => proxy.deletePod(pod)),
    elsewhere: await attempt(() => proxy.getPodLogs({ ...pod, clusterName: "nowhere" })),
  }),
);
