import type { LoggerService, SchedulerService } from '@backstage/backend-plugin-api';
import { ANNOTATION_LOCATION, ANNOTATION_ORIGIN_LOCATION, type Entity } from '@backstage/catalog-model';
import { NotFoundError } from '@backstage/errors';
import type { DeferredEntity, EntityProvider, EntityProviderConnection } from '@backstage/plugin-catalog-node';
import { readFeed, type Feed } from './feed';
import { portalAnnotation, reason, type Portal } from './portal';

/** PortalEntityProvider keeps the entities of a portal in the catalog. */
export class PortalEntityProvider implements EntityProvider {
  private connection?: EntityProviderConnection;
  // position and etag are those of the last feed that was applied.
  private position?: string;
  private etag?: string;
  // failing is the last failure, so that it is logged once.
  private failing?: string;
  private readonly locationKey: string;

  constructor(
    private readonly portal: Portal,
    private readonly scheduler: SchedulerService,
    private readonly logger: LoggerService,
  ) {
    this.locationKey = `ingestor:${portal.name}`;
  }

  getProviderName(): string {
    return `ingestor:${this.portal.name}`;
  }

  async connect(connection: EntityProviderConnection): Promise<void> {
    this.connection = connection;
    await this.scheduler.scheduleTask({
      ...this.portal.settings.schedule,
      id: `ingestor-feed-${this.portal.name}`,
      fn: async (signal) => this.run(signal),
    });
  }

  /** run reads the feed once. If that fails, the catalog stays as it is. */
  async run(signal?: AbortSignal): Promise<void> {
    try {
      await this.read(signal);
      if (this.failing !== undefined) {
        this.failing = undefined;
        this.logger.info(`The catalog of portal ${this.portal.name} is read again`);
      }
    } catch (error) {
      const why = error instanceof NotFoundError ? `${error.message}. The portal may be too old for this version of @ingestor/backstage-backend` : reason(error);
      if (why !== this.failing) {
        this.failing = why;
        this.logger.warn(`Cannot read the catalog of portal ${this.portal.name}, its entities stay as they are: ${why}`);
      }
    }
  }

  private async read(signal?: AbortSignal): Promise<void> {
    if (!this.connection) {
      throw new Error('the provider is not connected');
    }
    const params = new URLSearchParams(this.portal.settings.filter.map((f): [string, string] => ['filter', f]));
    params.set('words', 'upstream');
    if (this.position !== undefined) {
      params.set('since', this.position);
    }
    const response = await this.portal.fetch(`/api/catalog/feed.ndjson?${params}`, { headers: this.etag === undefined ? {} : { 'if-none-match': this.etag }, signal });
    if (response.status === 304) {
      return;
    }
    if (!response.body) {
      throw new Error('the feed has no body');
    }
    const feed = await readFeed(response.body, this.portal.settings.maxEntities);
    await this.apply(feed);
    this.position = feed.position;
    this.etag = response.headers.get('etag') ?? undefined;
  }

  private async apply(feed: Feed): Promise<void> {
    for (const { entityRef, reason: why } of feed.omitted) {
      this.logger.warn(`Portal ${this.portal.name} leaves out ${entityRef}, which Backstage would refuse: ${why}`);
    }
    const entities = feed.entities.map((e) => this.deferred(e));
    if (feed.mode === 'full') {
      await this.connection!.applyMutation({ type: 'full', entities });
    } else if (entities.length > 0 || feed.removed.length > 0) {
      const removed = feed.removed.map((entityRef) => ({ entityRef, locationKey: this.locationKey }));
      await this.connection!.applyMutation({ type: 'delta', added: entities, removed });
    } else {
      return;
    }
    this.logger.info(`Catalog of portal ${this.portal.name}, ${feed.mode === 'full' ? 'entities read' : 'entities changed'}: ${feed.entities.length}, removed: ${feed.removed.length}`);
  }

  private deferred(entity: Entity): DeferredEntity {
    const { kind, metadata } = entity;
    const at = `url:${this.portal.url}/catalog/${metadata.namespace ?? 'default'}/${kind.toLowerCase()}/${metadata.name}`;
    const annotations = { ...metadata.annotations, [ANNOTATION_LOCATION]: at, [ANNOTATION_ORIGIN_LOCATION]: at, [portalAnnotation]: this.portal.name };
    return { entity: { ...entity, metadata: { ...metadata, annotations } }, locationKey: this.locationKey };
  }
}
