-- What Templates were asked to do. What the words in braces mean for each engine
-- is in migrate.go. Times are milliseconds since 1970, where replicas share the
-- database by its clock.

-- beat is when somebody last said that a task goes on, which is when it was made
-- at first. It is in no index, so that PostgreSQL can change it in place. events
-- is the number of the last event. secrets and state are seldom there.
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

-- What does not change is not written again with every beat.
CREATE TABLE task_specs (
  task {{.Text}} NOT NULL PRIMARY KEY,
  spec {{.Bytes}} NOT NULL
);

-- n counts the events of a task, without gaps.
CREATE TABLE task_events (
  task    {{.Text}} NOT NULL,
  n       BIGINT NOT NULL,
  type    {{.Text}} NOT NULL,
  created BIGINT NOT NULL,
  body    {{.Bytes}} NOT NULL,
  PRIMARY KEY (task, n)
);
