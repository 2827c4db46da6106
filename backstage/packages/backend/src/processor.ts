import type { Entity } from '@backstage/catalog-model';
import type { AlphaEntity } from '@backstage/catalog-model/alpha';
import type { CatalogProcessor } from '@backstage/plugin-catalog-node';
import { portalAnnotation } from './portal';

/** The type of the status item that tells whether a resource is ready. */
export const readinessStatus = 'openportal.dev/readiness';

const levels: Record<string, 'info' | 'warning' | 'error'> = { ready: 'info', 'not ready': 'warning', unknown: 'info' };

/** ReadinessProcessor shows the readiness of a running resource as the status of its entity. */
export class ReadinessProcessor implements CatalogProcessor {
  getProcessorName(): string {
    return 'IngestorReadinessProcessor';
  }

  postProcessEntity(entity: AlphaEntity): Promise<Entity> {
    const { readiness: given, readinessSince: since } = entity.spec ?? {};
    const readiness = typeof given === 'string' ? given : '';
    const level = Object.hasOwn(levels, readiness) ? levels[readiness] : undefined;
    if (level === undefined || entity.kind !== 'Resource' || entity.metadata.annotations?.[portalAnnotation] === undefined) {
      return Promise.resolve(entity);
    }
    const message = `The resource is ${readiness === 'unknown' ? 'in an unknown state' : readiness}${typeof since === 'string' ? ` since ${since}` : ''}.`;
    const items = [...(entity.status?.items ?? []), { type: readinessStatus, level, message }];
    const out: AlphaEntity = { ...entity, status: { ...entity.status, items } };
    return Promise.resolve(out);
  }
}
