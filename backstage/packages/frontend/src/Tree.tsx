import { makeStyles } from '@material-ui/core/styles';
import Typography from '@material-ui/core/Typography';
import { Status, Time, type Tone } from './parts';
import type { ObjectNode, Readiness } from './types';

const useStyles = makeStyles((theme) => ({
  list: { listStyle: 'none', margin: 0, padding: 0, '& &': { paddingLeft: theme.spacing(2), marginLeft: theme.spacing(1), borderLeft: `1px solid ${theme.palette.divider}` } },
  row: { display: 'flex', flexWrap: 'wrap', columnGap: theme.spacing(2), padding: theme.spacing(0.75, 0), alignItems: 'baseline', ...theme.typography.body2 },
  name: { flex: '1 1 16em', minWidth: 0, overflowWrap: 'anywhere' },
  state: { flex: '0 0 8em' },
  age: { flex: '0 0 8em', color: theme.palette.text.secondary },
  message: { flexBasis: '100%', overflowWrap: 'anywhere' },
}));

/** readinessTones and readinessTitles are how readiness is shown. */
export const readinessTones: Record<Readiness, Tone> = { ready: 'ok', 'not ready': 'error', unknown: 'unknown', none: 'unknown' };
export const readinessTitles: Record<Readiness, string> = { ready: 'Ready', 'not ready': 'Not ready', unknown: 'Unknown', none: '' };

const states = {
  missing: { title: 'Missing', message: 'The object does not exist.' },
  forbidden: { title: 'Forbidden', message: 'The portal does not have permission to read this object.' },
  unreadable: { title: 'Unreadable', message: 'The object cannot be read.' },
};

/** Tree shows an object and those that it composes. */
export function Tree({ root }: { root: ObjectNode }) {
  return (
    <ul className={useStyles().list} aria-label="Objects">
      <Item node={root} />
    </ul>
  );
}

// within is the namespace of the object above.
function Item({ node, within }: { node: ObjectNode; within?: string | undefined }) {
  const classes = useStyles();
  const { children = [], more = 0, ref } = node;
  const message = messageOf(node);
  return (
    <li>
      <div className={classes.row}>
        <span className={classes.name}>
          <strong>{ref.kind}</strong> {ref.name}
          {ref.namespace !== undefined && ref.namespace !== within && <Secondary> in {ref.namespace}</Secondary>}
          {node.externalName !== undefined && node.externalName !== ref.name && <Secondary> ({node.externalName})</Secondary>}
        </span>
        <span className={classes.state}>
          <State node={node} />
        </span>
        <span className={classes.age}>{node.created !== undefined && <Time at={node.created} />}</span>
        {message !== '' && (
          <span className={classes.message}>
            <Secondary>{message}</Secondary>
          </span>
        )}
      </div>
      {(children.length > 0 || more > 0) && (
        <ul className={classes.list}>
          {children.map((c) => (
            <Item key={`${c.ref.apiVersion} ${c.ref.kind} ${c.ref.namespace ?? ''} ${c.ref.name}`} node={c} within={ref.namespace} />
          ))}
          {more > 0 && (
            <li>
              <Secondary>{more} more not shown</Secondary>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Secondary({ children }: { children: React.ReactNode }) {
  return (
    <Typography component="span" variant="body2" color="textSecondary">
      {children}
    </Typography>
  );
}

function State({ node }: { node: ObjectNode }) {
  if (node.state !== 'present') {
    return <Status tone={node.state === 'missing' ? 'error' : 'warning'}>{states[node.state].title}</Status>;
  }
  if (node.deleted !== undefined) {
    return <Status tone="pending">Deleting</Status>;
  }
  if (node.paused) {
    return <Status tone="warning">Paused</Status>;
  }
  return node.readiness === 'none' ? null : <Status tone={readinessTones[node.readiness]}>{readinessTitles[node.readiness]}</Status>;
}

// messageOf returns what is worth knowing about an object: why it cannot be read, what a condition says, or the last warning.
function messageOf(node: ObjectNode): string {
  if (node.problem !== undefined) {
    return node.problem;
  }
  if (node.state !== 'present') {
    return states[node.state].message;
  }
  if (node.loop) {
    return 'Already shown above: the references form a cycle.';
  }
  for (const type of ['Synced', 'Ready']) {
    const failing = node.conditions?.find((c) => c.type === type && c.status !== 'True');
    if (failing) {
      return [failing.reason, failing.message].filter(Boolean).join(': ');
    }
  }
  return node.event?.type === 'Warning' ? (node.event.message ?? '') : '';
}
