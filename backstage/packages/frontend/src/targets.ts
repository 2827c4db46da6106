import type { Tone } from './parts';
import type { Source } from './types';

/** Target is a cluster, folder or repository with all the sources that read it. */
export interface Target {
  name: string;
  cluster: boolean;
  /** The worst state of the sources. */
  state: string;
  /** When all sources were last read; undefined if one never was. */
  lastSuccess?: string | undefined;
  /** Numbers of objects by their type. */
  counts: Map<string, number>;
  problems: number;
  /** What is wrong with the sources, and how to fix it. */
  errors: { message: string; hint?: string | undefined }[];
}

const titles: Record<string, string> = {
  connected: 'Connected',
  waiting: 'Not synced yet',
  partial: 'Partially synced',
  'removal-pending': 'Removal pending',
  settings: 'Invalid configuration',
  unreachable: 'Unreachable',
  timeout: 'Timed out',
  certificate: 'Untrusted certificate',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  absent: 'Not found',
  server: 'Server error',
  spoilt: 'Unreadable',
  canceled: 'Canceled',
};

/** titleOf returns a state as pages write it. */
export function titleOf(state: string): string {
  return titles[state] ?? 'Failed';
}

const tones: Record<string, Tone> = { connected: 'ok', waiting: 'pending', partial: 'warning', 'removal-pending': 'warning' };
const order: Tone[] = ['ok', 'pending', 'warning', 'error'];

/** toneOf returns the tone of a state. */
export function toneOf(state: string): Tone {
  return tones[state] ?? 'error';
}

function rank(state: string): number {
  return order.indexOf(toneOf(state));
}

/** targetsOf groups sources by what they read: those with problems first, then clusters. */
export function targetsOf(sources: Source[]): Target[] {
  const groups = new Map<string, [Source, ...Source[]]>();
  for (const source of sources) {
    const key = source.cluster === undefined ? `files ${source.name}` : `cluster ${source.cluster}`;
    const group = groups.get(key);
    if (group) {
      group.push(source);
    } else {
      groups.set(key, [source]);
    }
  }
  return [...groups.values()].map(targetOf).sort((a, b) => rank(b.state) - rank(a.state) || Number(b.cluster) - Number(a.cluster) || a.name.localeCompare(b.name));
}

function targetOf(sources: [Source, ...Source[]]): Target {
  const [first] = sources;
  const read = sources.map((s) => s.lastSuccess).sort();
  // Sources of one cluster see the same objects. The first word of a list is their type, the rest tells the lists apart.
  const counts = new Map<string, number>();
  for (const { objects = {}, definitions } of sources) {
    const own = new Map<string, number>();
    for (const [list, n] of Object.entries(objects)) {
      const type = list.split(' ')[0] ?? list;
      own.set(type, (own.get(type) ?? 0) + n);
    }
    if (definitions) {
      own.set('definitions', definitions.found);
    }
    own.forEach((n, type) => counts.set(type, Math.max(n, counts.get(type) ?? 0)));
  }
  return {
    name: first.cluster ?? first.name.replace(/^.*\/sources\//, ''),
    cluster: first.cluster !== undefined,
    state: sources.reduce((worst, s) => (rank(s.state) > rank(worst) ? s.state : worst), first.state),
    lastSuccess: read.includes(undefined) ? undefined : read[0],
    counts,
    problems: sources.reduce((sum, s) => sum + (s.problemCount ?? 0), 0),
    errors: sources.flatMap((s) => [
      ...(s.lastError === undefined ? [] : [{ message: s.lastError, hint: s.hint }]),
      ...(s.definitions?.message === undefined ? [] : [{ message: s.definitions.message, hint: s.definitions.hint }]),
    ]),
  };
}
