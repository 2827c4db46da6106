import type { AuthService, BackstageCredentials, UserInfoService } from '@backstage/backend-plugin-api';
import { ForwardedError, InputError, NotAllowedError, NotFoundError, ResponseError, ServiceUnavailableError } from '@backstage/errors';
import type { PortalSettings } from './settings';

/** The plugin id of this package. Tokens for a portal are issued for it, so no other plugin accepts them. */
export const pluginId = 'ingestor';

/** The annotation of an entity with the name of the portal that it was read from. */
export const portalAnnotation = 'openportal.dev/portal';

/** Portal sends requests to a portal. */
export class Portal {
  readonly name: string;
  readonly url: string;

  constructor(
    readonly settings: PortalSettings,
    private readonly auth: AuthService,
    private readonly userInfo?: UserInfoService,
  ) {
    this.name = settings.name;
    this.url = settings.url;
  }

  /**
   * fetch sends a request as the user of the credentials, or as Backstage itself without any. It returns successful
   * responses, and 304.
   */
  async fetch(path: string, options: { as?: BackstageCredentials; method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
    const onBehalfOf = options.as ?? (await this.auth.getOwnServiceCredentials());
    const { token } = await this.auth.getPluginRequestToken({ onBehalfOf, targetPluginId: pluginId });
    const headers: Record<string, string> = { ...options.headers, authorization: `Bearer ${token}` };
    if (options.as && this.userInfo && this.auth.isPrincipal(options.as, 'user')) {
      const { ownershipEntityRefs } = await this.userInfo.getUserInfo(options.as);
      if (ownershipEntityRefs.length > 0) {
        headers['backstage-ownership'] = ownershipEntityRefs.join(',');
      }
    }
    if (options.body !== undefined) {
      headers['content-type'] = 'application/json';
    }
    let response: Response;
    try {
      response = await fetch(this.url + path, {
        method: options.method ?? 'GET',
        headers,
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        // A redirect would send the token elsewhere.
        redirect: 'error',
        signal: options.signal ?? null,
      });
    } catch (error) {
      if (options.signal?.aborted) {
        throw error;
      }
      throw new ServiceUnavailableError(`Portal ${this.name} does not answer at ${this.url}: ${reason(error)}`);
    }
    if (response.ok || response.status === 304) {
      return response;
    }
    throw await this.failure(response);
  }

  /** json sends a request and returns the body of its response. */
  async json<T>(path: string, options: Parameters<Portal['fetch']>[1] = {}): Promise<T> {
    const response = await this.fetch(path, options);
    try {
      return (await response.json()) as T;
    } catch (error) {
      throw new ForwardedError(`Portal ${this.name} returned no JSON at ${path}`, error);
    }
  }

  private async failure(response: Response): Promise<Error> {
    const error = await ResponseError.fromResponse(response);
    const said = error.body.error.message;
    switch (response.status) {
      case 400:
        return new InputError(`Portal ${this.name}: ${said}`);
      case 401:
      case 403:
        return new NotAllowedError(
          said.startsWith('Failed user token verification')
            ? `Portal ${this.name} does not accept the tokens of this Backstage. Add it to auth.backstage of the portal, with the url of this backend.`
            : `Portal ${this.name} refused the request: ${said}`,
        );
      case 404:
        return new NotFoundError(
          said.startsWith('Nothing found at ')
            ? `Portal ${this.name} is older than @ingestor/backstage-backend: it has no ${new URL(response.url).pathname}. Upgrade the portal.`
            : `Portal ${this.name}: ${said}`,
        );
      case 503:
        return new ServiceUnavailableError(`Portal ${this.name}: ${said}`);
      default:
        return new Error(`Portal ${this.name} returned ${response.status}: ${said}`);
    }
  }
}

/** reason returns why a request failed. The cause of a failed fetch has what its message lacks. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

/** choosePortal returns the portal with a name, or the only one if there is no name. */
export function choosePortal(portals: Portal[], name: string | undefined): Portal {
  const found = name === undefined && portals.length === 1 ? portals[0] : portals.find((p) => p.name === name);
  if (found) {
    return found;
  }
  const known = portals.map((p) => p.name).join(', ');
  throw new NotFoundError(
    name === undefined
      ? `It is not known which portal to use: the entity has no annotation ${portalAnnotation}, and there are several portals (${known})`
      : `There is no portal '${name}' in ingestor.portals of the configuration, which has ${known || 'none'}`,
  );
}
