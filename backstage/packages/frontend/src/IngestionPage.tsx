import { Content, Progress } from '@backstage/core-components';
import Typography from '@material-ui/core/Typography';
import { usePolled, type RequestError } from './api';
import { Empty, Notice, Section, Status, Table, Time, type Column, type Tone } from './parts';
import { targetsOf, titleOf, toneOf, type Target } from './targets';
import type { Health } from './types';

interface Portal {
  name: string;
  url: string;
}

// How often the state is read, in milliseconds.
const interval = 5_000;

/** IngestionPage shows how each portal reads its clusters, folders and repositories. */
export function IngestionPage() {
  const { data, error } = usePolled<{ items: Portal[] }>('/portals', () => 60_000);
  return (
    <Content>
      {!data && !error && <Progress />}
      {!data && error && <Failure title="The portals are not known" error={error} />}
      {data?.items.length === 0 && <Empty>No portal is configured. Add one to ingestor.portals in the configuration of Backstage.</Empty>}
      {data?.items.map((portal) => (
        <PortalHealth key={portal.name} portal={portal} />
      ))}
    </Content>
  );
}

function Failure({ title, error }: { title: string; error: RequestError }) {
  return (
    <Notice tone="error" title={error.status === 403 ? 'You may not see the state of ingestion' : title}>
      {error.message}
      {error.status === 403 && '. Ask an administrator of Backstage or of the portal for it.'}
    </Notice>
  );
}

const tones: Record<Health['status'], Tone> = { starting: 'pending', healthy: 'ok', degraded: 'warning', unhealthy: 'error' };
const titles: Record<Health['status'], string> = { starting: 'Starting', healthy: 'Healthy', degraded: 'Degraded', unhealthy: 'Unhealthy' };

function PortalHealth({ portal: { name, url } }: { portal: Portal }) {
  const { data, error, readAt } = usePolled<Health>(`/portals/${encodeURIComponent(name)}/health`, () => interval);
  return (
    <Section title={`Portal ${name}`} actions={<a href={url}>{url}</a>}>
      {!data && !error && <Progress />}
      {error && !data && <Failure title={`The state of portal ${name} is not available`} error={error} />}
      {error && data && readAt && (
        <Notice tone="warning" title="This data may be out of date">
          Last read <Time at={readAt} />. {error.message}
        </Notice>
      )}
      {data && <HealthDetails health={data} />}
    </Section>
  );
}

function HealthDetails({ health }: { health: Health }) {
  const { status, entitiesGenerated, sources, clusters } = health;
  // Callers without the permission of the portal get the states of clusters only.
  const targets = targetsOf(sources ?? Object.entries(clusters).map(([cluster, state]) => ({ name: cluster, cluster, state })));
  return (
    <>
      <Typography variant="body1" component="div" role="status">
        <Status tone={tones[status]}>{titles[status]}</Status>. {entitiesGenerated} {entitiesGenerated === 1 ? 'entity' : 'entities'} ingested.
      </Typography>
      {targets.length === 0 ? (
        <Empty>The portal has no clusters, folders or repositories to read.</Empty>
      ) : (
        <Table label="Clusters, folders and repositories" columns={sources ? [...columns, ...countColumns(targets), problemColumn] : columns.slice(0, 2)} rows={targets} keyOf={(t) => `${t.cluster} ${t.name}`} />
      )}
      <List title="Definitions and workloads that cannot be built" items={Object.entries(health.failures ?? {}).map(([what, why]) => `${what}: ${why}`)} />
      <List title="Notices" items={health.notices ?? []} />
      <List
        title="Owners and systems missing from the portal's catalog"
        items={(health.missing ?? []).map((m) => `${m.ref}, referenced by ${m.entities} ${m.entities === 1 ? 'entity' : 'entities'}, such as ${m.example}`)}
      />
      <List
        title="Definitions that their cluster does not serve"
        items={(health.unserved ?? []).map((u) => [`${u.definition} in cluster ${u.cluster}: ${u.condition} is ${u.status}`, u.reason, u.message].filter(Boolean).join(', '))}
      />
    </>
  );
}

const columns: Column<Target>[] = [
  { title: 'Name', cell: (t) => t.name },
  {
    title: 'State',
    cell: (t) => (
      <>
        <Status tone={toneOf(t.state)}>{titleOf(t.state)}</Status>
        {t.errors.map(({ message, hint }) => (
          <Typography key={message} variant="body2" color="textSecondary">
            {message}
            {hint !== undefined && `. ${hint}`}
          </Typography>
        ))}
      </>
    ),
  },
  { title: 'Last synced', cell: (t) => (t.lastSuccess === undefined ? 'Never' : <Time at={t.lastSuccess} />), narrow: true },
];

const types: [string, string][] = [
  ['definitions', 'Definitions'],
  ['compositions', 'Compositions'],
  ['composites', 'Resources'],
  ['workloads', 'Workloads'],
];

function countColumns(targets: Target[]): Column<Target>[] {
  return types.filter(([type]) => targets.some((t) => t.counts.has(type))).map(([type, title]) => ({ title, cell: (t) => t.counts.get(type), narrow: true }));
}

const problemColumn: Column<Target> = { title: 'Read errors', cell: (t) => t.problems, narrow: true };

function List({ title, items }: { title: string; items: string[] }) {
  return items.length === 0 ? null : (
    <>
      <Typography variant="subtitle1" component="h3">
        {title}
      </Typography>
      <ul>
        {items.map((item) => (
          <Typography key={item} component="li" variant="body2" style={{ overflowWrap: 'anywhere' }}>
            {item}
          </Typography>
        ))}
      </ul>
    </>
  );
}
