import { StatusAborted, StatusError, StatusOK, StatusPending, StatusWarning } from '@backstage/core-components';
import Box from '@material-ui/core/Box';
import Paper from '@material-ui/core/Paper';
import { makeStyles } from '@material-ui/core/styles';
import MuiTable from '@material-ui/core/Table';
import TableBody from '@material-ui/core/TableBody';
import TableCell from '@material-ui/core/TableCell';
import TableContainer from '@material-ui/core/TableContainer';
import TableHead from '@material-ui/core/TableHead';
import TableRow from '@material-ui/core/TableRow';
import Typography from '@material-ui/core/Typography';
import { useEffect, useId, useState, type ReactNode } from 'react';

/** Tone is how good or bad something is. */
export type Tone = 'ok' | 'warning' | 'error' | 'pending' | 'unknown';

const icons = { ok: StatusOK, warning: StatusWarning, error: StatusError, pending: StatusPending, unknown: StatusAborted };

const useStyles = makeStyles((theme) => ({
  notice: {
    padding: theme.spacing(2),
    marginBottom: theme.spacing(2),
    borderLeft: '4px solid',
    overflowWrap: 'anywhere',
    '&[data-tone=error]': { borderLeftColor: theme.palette.error.main },
    '&[data-tone=warning]': { borderLeftColor: theme.palette.warning.main },
    '&[data-tone=pending]': { borderLeftColor: theme.palette.info.main },
  },
  section: { padding: theme.spacing(2), marginBottom: theme.spacing(2) },
  status: { display: 'inline-flex', alignItems: 'center', verticalAlign: 'top', whiteSpace: 'nowrap', '& > :first-child': { font: 'inherit', lineHeight: 1 }, '& > :first-child > *': { top: 0 } },
  // A table that is too wide is scrolled: columns of texts stay readable, the others are as wide as their contents.
  cell: { verticalAlign: 'top', minWidth: '10em', overflowWrap: 'anywhere' },
  narrow: { verticalAlign: 'top', whiteSpace: 'nowrap' },
  head: { whiteSpace: 'nowrap' },
}));

/** Status is a word with an icon. */
export function Status({ tone, children }: { tone: Tone; children: ReactNode }) {
  const Icon = icons[tone];
  return (
    <span className={useStyles().status}>
      <Icon />
      <span>{children}</span>
    </span>
  );
}

/** Notice is a message that the reader must not miss. */
export function Notice({ tone, title, children }: { tone: 'warning' | 'error' | 'pending'; title: string; children?: ReactNode }) {
  return (
    <Paper className={useStyles().notice} data-tone={tone} role={tone === 'error' ? 'alert' : 'status'} elevation={1}>
      <Typography variant="subtitle1" component="p">
        {title}
      </Typography>
      <Typography variant="body2" component="div">
        {children}
      </Typography>
    </Paper>
  );
}

/** Section is a part of a page with a title. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <Paper component="section" className={useStyles().section} aria-labelledby={id}>
      <Box display="flex" justifyContent="space-between" alignItems="center" flexWrap="wrap" gridGap={8} mb={1}>
        <Typography id={id} variant="h6" component="h2">
          {title}
        </Typography>
        {actions}
      </Box>
      {children}
    </Paper>
  );
}

/** Column is a column of a table. */
export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  narrow?: boolean;
}

/** Table is a table of a few rows. */
export function Table<T>({ label, columns, rows, keyOf }: { label: string; columns: Column<T>[]; rows: T[]; keyOf: (row: T, index: number) => string }) {
  const classes = useStyles();
  return (
    // A table that does not fit can be scrolled with the keyboard.
    <TableContainer tabIndex={0} role="region" aria-label={label}>
      <MuiTable size="small" aria-label={label}>
        <TableHead>
          <TableRow>
            {columns.map((c) => (
              <TableCell key={c.title} className={classes.head}>
                {c.title}
              </TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {rows.map((row, i) => (
            <TableRow key={keyOf(row, i)}>
              {columns.map((c) => (
                <TableCell key={c.title} className={c.narrow ? classes.narrow : classes.cell}>
                  {c.cell(row)}
                </TableCell>
              ))}
            </TableRow>
          ))}
        </TableBody>
      </MuiTable>
    </TableContainer>
  );
}

/** Empty says that there is nothing to show. */
export function Empty({ children }: { children: ReactNode }) {
  return (
    <Typography variant="body2" color="textSecondary">
      {children}
    </Typography>
  );
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Time says how long ago something was; the tooltip has the exact time. */
export function Time({ at }: { at: string | Date }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => {
      setNow(Date.now());
    }, 10_000);
    return () => {
      window.clearInterval(timer);
    };
  }, []);
  const date = new Date(at);
  const seconds = Math.min(Math.round((date.getTime() - now) / 1000), 0);
  const [unit, size] = units.find(([, s]) => -seconds >= s) ?? ['second', 1];
  return (
    // A message is read aloud when it appears, and not again when its time is updated.
    <time aria-live="off" dateTime={date.toISOString()} title={date.toLocaleString()} style={{ whiteSpace: 'nowrap' }}>
      {relative.format(Math.trunc(seconds / size), unit)}
    </time>
  );
}
