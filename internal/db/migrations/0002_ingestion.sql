-- The tables of ingestion. The words in braces are replaced for each database engine in
-- migrate.go.

-- One row. Every transaction that changes the tables below increments n first, so such
-- transactions run one after the other, and stamps are committed in order.
CREATE TABLE stamp (
  n BIGINT NOT NULL
);
INSERT INTO stamp (n) VALUES (1);

-- The mirror: the objects of sources. unit, kind, claim and of_kind may be empty. A
-- deleted object keeps its row with its version. hash covers everything except names
-- and versions. Rows are narrow, because some queries read a whole list; the JSON is in
-- object_bodies.
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

-- Units whose objects changed. stamp is that of the last change, since that of the first
-- change after the last build.
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

-- Times are in milliseconds since 1970.
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
