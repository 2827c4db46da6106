-- What ingestion remembers. What the words in braces mean for each engine is in
-- migrate.go.

-- One row. Whoever changes what is below raises it first, and so waits for whoever
-- else does: numbers are committed in the order they are given out.
CREATE TABLE stamp (
  n BIGINT NOT NULL
);
INSERT INTO stamp (n) VALUES (1);

-- The objects of sources. unit, kind, claim and of_kind are empty if there is none.
-- One that is gone is remembered by its version. hash is that of all that is not a
-- name or a version. What is looked at for a whole list stays narrow; the JSON is
-- in object_bodies.
CREATE TABLE objects (
  source  {{.Text}} NOT NULL,
  list    {{.Text}} NOT NULL,
  key     {{.Text}} NOT NULL,
  unit    {{.Text}} NOT NULL,
  kind    {{.Text}} NOT NULL,
  claim   {{.Text}} NOT NULL,
  of_kind {{.Text}} NOT NULL,
  version BIGINT NOT NULL,
  gone    INTEGER NOT NULL,
  hash    {{.Bytes}} NOT NULL,
  note    {{.Bytes}},
  PRIMARY KEY (source, list, key)
) {{.Clustered}};
CREATE INDEX objects_unit ON objects (unit) WHERE unit <> '';
CREATE INDEX objects_kind ON objects (kind, unit) WHERE kind <> '';
CREATE INDEX objects_claim ON objects (claim, unit) WHERE claim <> '';
CREATE INDEX objects_of ON objects (of_kind) WHERE of_kind <> '';

-- Objects without a body have no row.
CREATE TABLE object_bodies (
  source {{.Text}} NOT NULL,
  list   {{.Text}} NOT NULL,
  key    {{.Text}} NOT NULL,
  body   {{.Bytes}} NOT NULL,
  PRIMARY KEY (source, list, key)
);

-- Units whose objects changed: the stamp of the last change, and of the first one
-- since somebody worked on them.
CREATE TABLE dirty (
  unit  {{.Text}} NOT NULL PRIMARY KEY,
  stamp BIGINT NOT NULL,
  since BIGINT NOT NULL
) {{.Clustered}};
CREATE INDEX dirty_since ON dirty (since, unit);

CREATE TABLE sources (
  name  {{.Text}} NOT NULL PRIMARY KEY,
  state {{.Bytes}} NOT NULL
) {{.Clustered}};

-- Times are milliseconds since 1970.
CREATE TABLE runs (
  n       BIGINT NOT NULL PRIMARY KEY,
  started BIGINT NOT NULL,
  run     {{.Bytes}} NOT NULL
);
CREATE INDEX runs_started ON runs (started, n);

CREATE TABLE marks (
  source {{.Text}} NOT NULL,
  key    {{.Text}} NOT NULL,
  mark   {{.Text}} NOT NULL,
  PRIMARY KEY (source, key)
) {{.Clustered}};
