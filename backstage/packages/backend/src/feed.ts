import type { Entity } from '@backstage/catalog-model';

/** The version of the feed that this package reads. */
export const feedVersion = 1;

/** A feed of a portal: everything, or what has changed since a position. */
export interface Feed {
  mode: 'full' | 'delta';
  /** Where the next read continues. */
  position: string;
  entities: Entity[];
  removed: string[];
  /** Entities that the portal left out because Backstage refuses them. */
  omitted: { entityRef: string; reason: string }[];
}

// maxLine is the longest record: an entity with a large API definition.
const maxLine = 64 * 1024 * 1024;

/** readFeed reads a feed. It throws if the feed is incomplete, has another version, or has too many entities. */
export async function readFeed(body: AsyncIterable<Uint8Array>, maxEntities: number): Promise<Feed> {
  let feed: Feed | undefined;
  let ended = false;
  for await (const line of linesOf(body)) {
    const record = JSON.parse(line) as Record<string, unknown>;
    if (!feed) {
      feed = begin(record);
      continue;
    }
    if (ended) {
      throw new Error('the feed has records after its end');
    }
    if (isRecord(record['end'])) {
      ended = true;
      const { entities, removed, omitted } = record['end'];
      if (entities !== feed.entities.length || removed !== feed.removed.length) {
        throw new Error(`the feed has ${feed.entities.length} entities and ${feed.removed.length} removals, but its end says ${String(entities)} and ${String(removed)}`);
      }
      feed.omitted = Array.isArray(omitted) ? (omitted as Feed['omitted']) : [];
    } else if (typeof record['remove'] === 'string') {
      feed.removed.push(record['remove']);
    } else {
      feed.entities.push(record as unknown as Entity);
    }
    if (feed.entities.length + feed.removed.length > maxEntities) {
      throw new Error(`the feed has more than ${maxEntities} entities; select fewer with filter, or raise maxEntities`);
    }
  }
  if (!feed || !ended) {
    throw new Error('the feed ended before it was complete');
  }
  return feed;
}

function begin(record: Record<string, unknown>): Feed {
  const head = record['feed'];
  if (!isRecord(head)) {
    throw new Error('the response is not a feed; check the url of the portal');
  }
  const { version, mode, position } = head;
  if (version !== feedVersion) {
    const newer = typeof version === 'number' && version > feedVersion;
    throw new Error(`the portal writes version ${String(version)} of the feed and this package reads version ${feedVersion}: upgrade ${newer ? '@ingestor/backstage-backend' : 'the portal'}`);
  }
  if ((mode !== 'full' && mode !== 'delta') || typeof position !== 'string') {
    throw new Error('the first record of the feed has no mode or position');
  }
  return { mode, position, entities: [], removed: [], omitted: [] };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      parts.push(text.slice(from, at));
      yield parts.join('');
      parts = [];
      length = 0;
      from = at + 1;
    }
    parts.push(text.slice(from));
    length += text.length - from;
    if (length > maxLine) {
      throw new Error(`the feed has a record of more than ${maxLine} characters`);
    }
  }
  const rest = parts.join('') + decoder.decode();
  if (rest !== '') {
    yield rest;
  }
}
