-- Scaffolder tasks. The words in braces are replaced for each database engine in
-- migrate.go. Times are in milliseconds since 1970, by the clock of the database if
-- replicas share it.

-- beat is the time of the last heartbeat, initially that of the creation. It is in no
-- index, so that PostgreSQL can update it in place. events is the number of the last
-- event. secrets and state are usually null.
CREATE TABLE tasks (
  id         {{.Text}} NOT NULL PRIMARY KEY,
  status     {{.Text}} NOT NULL,
  created_by {{.Text}} NOT NULL,
  template   {{.Text}} NOT NULL,
  created    BIGINT NOT NULL,
  beat       BIGINT NOT NULL,
  run        BIGINT NOT NULL,
  cancel     INTEGER NOT NULL,
  events     BIGINT NOT NULL,
  secrets    {{.Bytes}},
  state      {{.Bytes}}
);
CREATE INDEX tasks_created ON tasks (created, id);
CREATE INDEX tasks_created_by ON tasks (created_by, created, id);
CREATE INDEX tasks_status ON tasks (status, created, id);

-- The spec never changes. It has its own table, so that a heartbeat does not rewrite it.
CREATE TABLE task_specs (
  task {{.Text}} NOT NULL PRIMARY KEY,
  spec {{.Bytes}} NOT NULL
);

-- n numbers the events of a task, without gaps.
CREATE TABLE task_events (
  task    {{.Text}} NOT NULL,
  n       BIGINT NOT NULL,
  type    {{.Text}} NOT NULL,
  created BIGINT NOT NULL,
  body    {{.Bytes}} NOT NULL,
  PRIMARY KEY (task, n)
);
