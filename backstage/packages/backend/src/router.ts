import type { BackstageCredentials, HttpAuthService, PermissionsService } from '@backstage/backend-plugin-api';
import { ANNOTATION_ORIGIN_LOCATION, stringifyEntityRef, type CompoundEntityRef } from '@backstage/catalog-model';
import { InputError, NotAllowedError, NotFoundError } from '@backstage/errors';
import type { CatalogService } from '@backstage/plugin-catalog-node';
import { AuthorizeResult, createPermission } from '@backstage/plugin-permission-common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { choosePortal, portalAnnotation, type Portal } from './portal';

/** The permission to see the state of ingestion. */
export const ingestionReadPermission = createPermission({ name: 'ingestor.ingestion.read', attributes: { action: 'read' } });

/** The permissions of the plugin. */
export const permissions = [ingestionReadPermission];

interface Options {
  portals: Portal[];
  httpAuth: HttpAuthService;
  permissions: PermissionsService;
  catalog: CatalogService;
}

// Entity routes, and where the portal has what they return.
const ofEntity: Record<string, (ref: CompoundEntityRef) => string> = {
  status: (r) => `/api/resources/by-name/${segments(r)}/status`,
  history: (r) => `/api/resources/by-name/${segments(r)}/history`,
  conditions: (r) => `/api/crossplane-ingestor/conditions/${segments(r)}`,
};

function segments({ kind, namespace, name }: CompoundEntityRef): string {
  return [kind, namespace, name].map(encodeURIComponent).join('/');
}

// formParams are the parameters of a form that is filled from a resource.
const formParams = ['cluster', 'namespace', 'name', 'field'];

// choiceParams are the parameters of the choices of a field.
const choiceParams = ['field', 'cluster', 'namespace', 'search'];

type Request = IncomingMessage & { path: string; query: Record<string, unknown> };

// paramsOf returns the parameters of a request that have one of the names.
function paramsOf(req: Request, names: string[]): [string, string][] {
  return names.flatMap((p): [string, string][] => (typeof req.query[p] === 'string' ? [[p, req.query[p]]] : []));
}

/**
 * createHandler returns the handler of /api/ingestor: what the pages of the plugin read from a portal, as the user who is
 * signed in. It reads only; an entity must be one that the user may read in Backstage too.
 */
export function createHandler({ portals, httpAuth, permissions: policy, catalog }: Options) {
  // portalOf returns the portal that an entity was read from, if the user may read the entity.
  const portalOf = async (ref: CompoundEntityRef, credentials: BackstageCredentials): Promise<Portal> => {
    const annotations = (await catalog.getEntityByRef(ref, { credentials }))?.metadata.annotations ?? {};
    const name = annotations[portalAnnotation];
    if (name !== undefined) {
      const portal = choosePortal(portals, name);
      // An entity of elsewhere could name a portal, and lead to another entity there.
      if (annotations[ANNOTATION_ORIGIN_LOCATION]?.startsWith(`url:${portal.url}/`)) {
        return portal;
      }
    }
    throw new NotFoundError(`No entity ${stringifyEntityRef(ref)} of a portal found`);
  };
  const route = async (req: Request): Promise<unknown> => {
    if (req.method !== 'GET') {
      throw new NotFoundError(`No ${req.method} of ${req.path}`);
    }
    const credentials = await httpAuth.credentials(req as never, { allow: ['user'] });
    const parts = req.path.split('/').slice(1).map(decodeURIComponent);
    const [what, ...rest] = parts;
    if (what === 'portals' && rest.length === 0) {
      return { items: portals.map(({ name, url }) => ({ name, url })) };
    }
    if (what === 'portals' && rest.length === 2 && rest[1] === 'health') {
      const [decision] = await policy.authorize([{ permission: ingestionReadPermission }], { credentials });
      if (decision?.result !== AuthorizeResult.ALLOW) {
        throw new NotAllowedError(`Missing permission ${ingestionReadPermission.name}`);
      }
      return choosePortal(portals, rest[0]).json('/api/crossplane-ingestor/health', { as: credentials });
    }
    if (what === 'entities' && rest.length === 4) {
      const [kind = '', namespace = '', name = '', tail = ''] = rest;
      const portal = await portalOf({ kind, namespace, name }, credentials);
      const path = Object.hasOwn(ofEntity, tail) ? ofEntity[tail] : undefined;
      if (path) {
        return portal.json(path({ kind, namespace, name }), { as: credentials });
      }
    }
    if (what === 'forms' && rest.length === 2) {
      const [namespace = '', name = ''] = rest;
      const portal = await portalOf({ kind: 'template', namespace, name }, credentials);
      const params = new URLSearchParams(paramsOf(req, formParams));
      return portal.json(`/api/scaffolder/v2/templates/${[namespace, 'template', name].map(encodeURIComponent).join('/')}/parameter-schema?${params}`, { as: credentials });
    }
    if (what === 'choices' && rest.length === 2) {
      const [namespace = '', name = ''] = rest;
      const ref = { kind: 'template', namespace, name };
      const portal = await portalOf(ref, credentials);
      const params = new URLSearchParams([['template', stringifyEntityRef(ref)], ...paramsOf(req, choiceParams)]);
      return portal.json(`/api/crossplane-ingestor/choices?${params}`, { as: credentials });
    }
    throw new NotFoundError(`Nothing at ${req.path}`);
  };
  return (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => {
    route(req as Request).then(
      (body) => {
        res.setHeader('content-type', 'application/json');
        res.setHeader('cache-control', 'no-store');
        res.end(JSON.stringify(body));
      },
      (error: unknown) => {
        next(error instanceof URIError ? new InputError('The path has an invalid encoding') : error);
      },
    );
  };
}
