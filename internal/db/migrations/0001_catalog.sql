-- What the words in braces mean for each engine is in migrate.go.

-- Entities by reference. What is looked at for all of them at once stays narrow;
-- the JSON is in documents.
CREATE TABLE entities (
  ref      {{.Text}} NOT NULL PRIMARY KEY,
  uid      {{.Text}} NOT NULL UNIQUE,
  provider {{.Text}} NOT NULL,
  parent   {{.Text}} NOT NULL,
  hash     {{.Text}} NOT NULL,
  etag     {{.Text}} NOT NULL
) {{.Clustered}};
CREATE INDEX entities_provider ON entities (provider, ref);

-- words are those of the entity in terms, one a line, so that they can be found
-- there. body is the JSON that is served. etag_at and relations_at are the bytes at
-- which the etag and the key "relations" begin, so that both can be replaced
-- without reading the rest. The rows are too wide to be those of an index.
CREATE TABLE documents (
  ref          {{.Text}} NOT NULL PRIMARY KEY,
  words        {{.Text}} NOT NULL,
  etag_at      INTEGER NOT NULL,
  relations_at INTEGER NOT NULL,
  body         {{.Bytes}} NOT NULL
);
{{.Uncompressed}}

-- The keys of fields in lower case. A key keeps its number for good.
CREATE TABLE keys (
  id  INTEGER NOT NULL PRIMARY KEY,
  key {{.Text}} NOT NULL UNIQUE
);

-- One row for each field and value: in lower case, and as it is written where
-- that differs.
CREATE TABLE search (
  kid      INTEGER NOT NULL,
  value    {{.Text}} NOT NULL,
  ref      {{.Text}} NOT NULL,
  original {{.Text}},
  PRIMARY KEY (kid, value, ref)
) {{.Clustered}};
CREATE INDEX search_ref ON search (ref, kid);

CREATE TABLE terms (
  word {{.Text}} NOT NULL,
  ref  {{.Text}} NOT NULL,
  PRIMARY KEY (word, ref)
) {{.Clustered}};

-- Who says so, from, how, to. The ends need not be there.
CREATE TABLE relations (
  source   {{.Text}} NOT NULL,
  type     {{.Text}} NOT NULL,
  target   {{.Text}} NOT NULL,
  declarer {{.Text}} NOT NULL,
  PRIMARY KEY (source, type, target, declarer)
) {{.Clustered}};
CREATE INDEX relations_declarer ON relations (declarer);

-- One row. Whoever changes entities raises it first, and so waits for whoever
-- else does.
CREATE TABLE revision (
  n BIGINT NOT NULL
);
INSERT INTO revision (n) VALUES (1);

-- Times are milliseconds since 1970.
CREATE TABLE locations (
  id      {{.Text}} NOT NULL PRIMARY KEY,
  type    {{.Text}} NOT NULL,
  target  {{.Text}} NOT NULL,
  error   {{.Text}} NOT NULL,
  read_at BIGINT,
  UNIQUE (type, target)
) {{.Clustered}};

CREATE TABLE signing_keys (
  id      {{.Text}} NOT NULL PRIMARY KEY,
  jwk     {{.Bytes}} NOT NULL,
  expires BIGINT NOT NULL
) {{.Clustered}};

CREATE TABLE secrets (
  name  {{.Text}} NOT NULL PRIMARY KEY,
  value {{.Bytes}} NOT NULL
) {{.Clustered}};
