import type { Entity } from '@backstage/catalog-model';
import { Progress } from '@backstage/core-components';
import { EntityRefLink, useEntity } from '@backstage/plugin-catalog-react';
import Typography from '@material-ui/core/Typography';
import { usePolled, type Polled } from './api';
import { DayTwo } from './DayTwo';
import { pathOf, staleOf } from './entity';
import { Empty, Notice, Section, Status, Table, Time, type Column, type Tone } from './parts';
import { readinessTitles, readinessTones, Tree } from './Tree';
import type { Condition, Readiness, ResourceChange, ResourceEvent, ResourceStatus } from './types';

// How often the state is read, in milliseconds: while it is expected to change, and otherwise.
const soon = 3_000;
const calm = 15_000;

/** ResourceTab shows the state of a running resource, as its cluster has it now. */
export function ResourceTab() {
  const { entity } = useEntity();
  const path = pathOf(entity);
  const status = usePolled<ResourceStatus>(`${path}/status`, (s) => (s?.ready ? calm : soon));
  const history = usePolled<{ items: ResourceChange[] }>(`${path}/history`, () => calm);
  const { data, error } = status;
  if (!data && !error) {
    return <Progress />;
  }
  return (
    <>
      <Outdated entity={entity} status={status} />
      {data && (
        <>
          <Section title={`${data.tree.ref.kind} ${data.tree.ref.name}`} actions={<DayTwo entity={entity} />}>
            <Readiness status={data} />
          </Section>
          <Section title="Objects">
            <Tree root={data.tree} />
          </Section>
          <Section title="Conditions">
            <Conditions conditions={data.tree.conditions ?? []} />
          </Section>
          <Section title="Events">
            <Events events={data.events} />
          </Section>
        </>
      )}
      {(data ?? history.data) && (
        <Section title="History">
          <History history={history} />
        </Section>
      )}
    </>
  );
}

// Outdated says why the data of the page is missing or may be out of date.
function Outdated({ entity, status: { data, error, readAt } }: { entity: Entity; status: Polled<ResourceStatus> }) {
  const stale = staleOf(entity);
  if (error && data && readAt) {
    return (
      <Notice tone="warning" title="This data may be out of date">
        Last read <Time at={readAt} />. {error.message}
      </Notice>
    );
  }
  if (error) {
    return (
      <Notice tone="error" title={error.status === 403 ? 'You may not see the state of this resource' : 'The state of this resource is not available'}>
        {error.message}
      </Notice>
    );
  }
  if (stale) {
    return (
      <Notice tone="warning" title="The catalog may be out of date">
        The portal could not read cluster {stale.cluster}
        {stale.since !== undefined && (
          <>
            {' since '}
            <Time at={stale.since} />
          </>
        )}
        . What is below was read just now.
      </Notice>
    );
  }
  return null;
}

// readinessOf returns the readiness of a resource. A part that fails is a reason even if the resource has not reported it yet.
function readinessOf({ tree, reason }: ResourceStatus): Readiness {
  return tree.readiness === 'unknown' && (reason?.path.length ?? 0) > 0 ? 'not ready' : tree.readiness;
}

function Readiness({ status }: { status: ResourceStatus }) {
  const readiness = readinessOf(status);
  const { reason, tree, cluster } = status;
  const since = reason?.since ?? tree.since;
  return (
    <div role="status">
      <Typography variant="body1" component="div" style={{ overflowWrap: 'anywhere' }}>
        <Status tone={reason && readiness === 'ready' ? 'warning' : readinessTones[readiness]}>{readinessTitles[readiness] || 'No readiness'}</Status>
        {reason && `${readiness === 'ready' ? ', but a change was not applied' : ''}: ${reason.sentence}`}
      </Typography>
      <Typography variant="body2" color="textSecondary" component="div">
        In cluster {cluster}
        {since !== undefined && (
          <>
            {', since '}
            <Time at={since} />
          </>
        )}
      </Typography>
    </div>
  );
}

const conditionTones: Record<string, Tone> = { True: 'ok', False: 'error' };

const conditionColumns: Column<Condition>[] = [
  { title: 'Condition', cell: (c) => c.type, narrow: true },
  { title: 'Status', cell: (c) => <Status tone={conditionTones[c.status] ?? 'unknown'}>{c.status}</Status>, narrow: true },
  { title: 'Reason', cell: (c) => c.reason },
  { title: 'Message', cell: (c) => c.message },
  { title: 'Since', cell: (c) => c.lastTransitionTime !== undefined && <Time at={c.lastTransitionTime} />, narrow: true },
];

function Conditions({ conditions }: { conditions: Condition[] }) {
  return conditions.length === 0 ? (
    <Empty>No conditions yet: the cluster has not reported any for this resource.</Empty>
  ) : (
    <Table label="Conditions" columns={conditionColumns} rows={conditions} keyOf={(c) => c.type} />
  );
}

const eventColumns: Column<ResourceEvent>[] = [
  { title: 'Type', cell: (e) => <Status tone={e.type === 'Warning' ? 'warning' : 'ok'}>{e.type}</Status>, narrow: true },
  { title: 'Reason', cell: (e) => e.reason },
  { title: 'Message', cell: (e) => e.message },
  { title: 'Count', cell: (e) => e.count ?? 1, narrow: true },
  { title: 'Object', cell: (e) => `${e.object.kind} ${e.object.name}` },
  { title: 'Last seen', cell: (e) => e.last !== undefined && <Time at={e.last} />, narrow: true },
];

function Events({ events }: { events: ResourceEvent[] }) {
  return events.length === 0 ? (
    <Empty>No events. By default, Kubernetes keeps events for about an hour.</Empty>
  ) : (
    <Table label="Events" columns={eventColumns} rows={events} keyOf={(e, i) => `${e.object.kind} ${e.object.name} ${e.reason ?? ''} ${i}`} />
  );
}

const operations = { create: 'Created', update: 'Updated', delete: 'Deleted' };

const historyColumns: Column<ResourceChange>[] = [
  { title: 'Change', cell: (c) => operations[c.operation], narrow: true },
  { title: 'Fields', cell: (c) => c.fields?.join(', ') },
  { title: 'By', cell: (c) => <By who={c.by} /> },
  { title: 'When', cell: (c) => <Time at={c.at} />, narrow: true },
];

// By is who made a change: a user, or a service, which has no page.
function By({ who }: { who: string }) {
  return who.startsWith('user:') ? <EntityRefLink entityRef={who} /> : <>{who === '' ? 'A service' : who}</>;
}

function History({ history: { data, error } }: { history: Polled<{ items: ResourceChange[] }> }) {
  if (!data) {
    return error ? <Empty>The history is not available: {error.message}</Empty> : <Progress />;
  }
  return data.items.length === 0 ? (
    <Empty>No task has changed this resource, or its tasks were deleted. Changes made with other tools are not listed.</Empty>
  ) : (
    <Table label="History" columns={historyColumns} rows={data.items} keyOf={(c) => `${c.task} ${c.at}`} />
  );
}
