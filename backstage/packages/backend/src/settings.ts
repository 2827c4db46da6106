import {
  readSchedulerServiceTaskScheduleDefinitionFromConfig,
  type RootConfigService,
  type SchedulerServiceTaskScheduleDefinition,
} from '@backstage/backend-plugin-api';

/** The settings of one portal. */
export interface PortalSettings {
  name: string;
  url: string;
  filter: string[];
  schedule: SchedulerServiceTaskScheduleDefinition;
  maxEntities: number;
}

const usualSchedule: SchedulerServiceTaskScheduleDefinition = { frequency: { minutes: 1 }, timeout: { minutes: 5 }, initialDelay: { seconds: 3 } };

// validName is what a name may be: it is part of annotations, of provider names and of addresses.
const validName = /^[a-z][a-z0-9-]{0,62}$/;

/** readSettings returns the settings of all portals of the configuration. */
export function readSettings(config: RootConfigService): PortalSettings[] {
  const all = (config.getOptionalConfigArray('ingestor.portals') ?? []).map((c) => {
    return {
      name: c.getOptionalString('name') ?? 'portal',
      url: readUrl(c.getString('url')),
      filter: Array.isArray(c.getOptional('filter')) ? c.getStringArray('filter') : [c.getOptionalString('filter') ?? []].flat(),
      schedule: c.has('schedule') ? readSchedulerServiceTaskScheduleDefinitionFromConfig(c.getConfig('schedule')) : usualSchedule,
      maxEntities: c.getOptionalNumber('maxEntities') ?? 100_000,
    };
  });
  const seen = new Set<string>();
  for (const { name } of all) {
    if (!validName.test(name)) {
      throw new Error(`Invalid ingestor.portals: name '${name}' must consist of lower-case letters, digits and dashes`);
    }
    if (seen.has(name)) {
      throw new Error(`Invalid ingestor.portals: two portals have the name '${name}'; give each a name of its own`);
    }
    seen.add(name);
  }
  return all;
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '') {
    throw new Error(`Invalid ingestor.portals: url '${text}' must be an http or https URL without credentials`);
  }
  return text.replace(/\/+$/, '').replace(/\/api$/, '');
}
