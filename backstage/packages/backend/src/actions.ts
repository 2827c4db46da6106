import type { LoggerService } from '@backstage/backend-plugin-api';
import { InputError, ServiceUnavailableError } from '@backstage/errors';
import type { ActionContext, TemplateAction } from '@backstage/plugin-scaffolder-node';
import type { JsonObject, JsonValue } from '@backstage/types';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventsOf, type TaskEvent } from './follow';
import { choosePortal, portalAnnotation, reason, type Portal } from './portal';

const anything = { type: 'object', additionalProperties: true } as const;
const manifest = { description: 'A manifest: an object, a list of objects, or YAML text.' };
const cluster = { type: 'string', description: 'Name of the cluster; the default of the portal if it is missing.' };

// The actions that a portal runs. The portal validates their input; the schemas here are for the list of actions.
const actions: { id: string; description: string; input: JsonObject }[] = [
  {
    id: 'kubernetes:apply',
    description: 'Applies a manifest to a cluster of the portal, with the permissions of the user.',
    input: { ...anything, required: ['manifest'], properties: { manifest, cluster, wait: { description: 'How long to wait until everything is ready, such as { minutes: 5 }.' } } },
  },
  {
    id: 'kubernetes:delete',
    description: 'Deletes a resource that the portal applied to a cluster, with the permissions of the user.',
    input: { ...anything, properties: { manifest, cluster } },
  },
  {
    id: 'crossplane:create-xr',
    description: 'Creates a composite resource, or a claim, in a cluster of the portal.',
    input: anything,
  },
  {
    id: 'publish:change-request',
    description: 'Creates a branch with a manifest or files, and opens a change request at the Git server.',
    input: anything,
  },
];

/** createActions returns the actions that the portals run for the users of Backstage. */
export function createActions(portals: Portal[]): TemplateAction[] {
  return actions.map(({ id, description, input }) => ({
    id,
    description,
    supportsDryRun: true,
    // The portal says what an action returns.
    schema: { input, output: anything },
    handler: async (ctx) => new Run(id, ctx, portals).do(),
  }));
}

// tries is how often in a row the events of a task are asked for again, and pause how long to wait before.
const tries = 60;
const pause = 5_000;

// Run is one run of an action.
class Run {
  private readonly portal: Portal;
  private readonly logger: LoggerService;

  constructor(
    private readonly action: string,
    private readonly ctx: ActionContext<JsonObject>,
    portals: Portal[],
  ) {
    this.logger = ctx.logger;
    this.portal = choosePortal(portals, ctx.templateInfo?.entity?.metadata.annotations?.[portalAnnotation]);
  }

  async do(): Promise<void> {
    this.refuseSecrets();
    const as = await this.ctx.getInitiatorCredentials();
    const path = `/api/scaffolder/v2/actions/${encodeURIComponent(this.action)}/run`;
    const body = { templateRef: this.ctx.templateInfo?.entityRef ?? 'template:default/unknown', input: this.ctx.input };
    if (this.ctx.isDryRun) {
      const done = await this.portal.json<{ log?: { body: { message?: string } }[]; output?: { run?: JsonObject } }>(path, { as, method: 'POST', body: { ...body, dryRun: true }, signal: this.ctx.signal });
      for (const line of done.log ?? []) {
        this.logger.info(line.body.message ?? '');
      }
      this.outputs(done.output?.run);
      return;
    }
    // A task of Backstage that is recovered follows the task that it has created already.
    const id = await this.ctx.checkpoint({
      key: `ingestor-task-${JSON.stringify(this.ctx.each ?? null)}`,
      fn: async () => (await this.portal.json<{ id: string }>(path, { as, method: 'POST', body })).id,
    });
    this.logger.info(`Portal ${this.portal.name} runs task ${id}: ${this.portal.url}/tasks/${id}`);
    const cancel = () => void this.cancel(id);
    this.ctx.signal?.addEventListener('abort', cancel, { once: true });
    try {
      this.outputs(await this.follow(id));
    } finally {
      this.ctx.signal?.removeEventListener('abort', cancel);
    }
  }

  // follow logs the events of a task until it ends, and returns its output. It reads them as Backstage, not as the user:
  // the user's token may expire before the task ends.
  private async follow(id: string): Promise<JsonObject | undefined> {
    let after = 0;
    for (let failures = 0; ; ) {
      try {
        const response = await this.portal.fetch(`/api/scaffolder/v2/tasks/${id}/eventstream?after=${after}`, { signal: this.ctx.signal });
        for await (const event of eventsOf(response.body as unknown as AsyncIterable<Uint8Array>)) {
          failures = 0;
          after = Math.max(after, event.id);
          if (event.type === 'completion') {
            return this.ended(id, event);
          }
          if (event.type === 'cancelled') {
            throw new Ended(`Task ${id} of portal ${this.portal.name} was cancelled`);
          }
          this.logger.info(event.body.message ?? '');
        }
      } catch (error) {
        if (error instanceof Ended || this.ctx.signal?.aborted) {
          throw error;
        }
        if (++failures > tries) {
          throw new ServiceUnavailableError(`Task ${id} of portal ${this.portal.name} cannot be followed any longer; it may still run there, see ${this.portal.url}/tasks/${id}. ${reason(error)}`);
        }
        if (failures === 1) {
          this.logger.warn(`Task ${id} of portal ${this.portal.name} runs on, but its events cannot be read; trying again. ${reason(error)}`);
        }
      }
      await sleep(pause, undefined, { signal: this.ctx.signal }).catch(() => undefined);
    }
  }

  private ended(id: string, { body }: TaskEvent): JsonObject | undefined {
    if (body.status === 'failed' || body.error) {
      throw new Ended(`Task ${id} of portal ${this.portal.name} failed: ${body.error?.message ?? body.message ?? 'no reason given'}`);
    }
    return body.output?.['run'] as JsonObject | undefined;
  }

  private outputs(all: JsonObject | undefined) {
    for (const [name, value] of Object.entries(all ?? {})) {
      this.ctx.output(name, value);
    }
  }

  private async cancel(id: string) {
    try {
      await this.portal.fetch(`/api/scaffolder/v2/tasks/${id}/cancel`, { method: 'POST' });
    } catch (error) {
      this.logger.warn(`Task ${id} of portal ${this.portal.name} could not be cancelled: ${reason(error)}`);
    }
  }

  // refuseSecrets refuses an input that contains a secret of the task: the portal would store it with its own task.
  private refuseSecrets() {
    const secrets = Object.entries(this.ctx.secrets ?? {}).filter(([name, value]) => name !== 'backstageToken' && !name.startsWith('__') && typeof value === 'string' && value !== '');
    const found = secrets.find(([, value]) => contains(this.ctx.input, value));
    if (found) {
      throw new InputError(`The input of ${this.action} contains the secret '${found[0]}'. The portal takes no secrets from Backstage; refer to a Secret of the cluster instead.`);
    }
  }
}

// Ended is the end of a task that did not succeed: following it again would not help.
class Ended extends Error {}

function contains(value: JsonValue | undefined, secret: string): boolean {
  if (typeof value === 'string') {
    return value.includes(secret);
  }
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  return Object.entries(value).some(([key, item]) => key.includes(secret) || contains(item, secret));
}
