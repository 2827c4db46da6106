-- The words in braces are replaced for each database engine in migrate.go.

-- Entities by reference. Rows are narrow, because some queries read all of them; the
-- JSON is in documents.
CREATE TABLE entities (
  ref      {{.Text}} NOT NULL PRIMARY KEY,
  uid      {{.Text}} NOT NULL UNIQUE,
  provider {{.Text}} NOT NULL,
  parent   {{.Text}} NOT NULL,
  hash     {{.Text}} NOT NULL,
  etag     {{.Text}} NOT NULL
) {{.Clustered}};
CREATE INDEX entities_provider ON entities (provider, ref);

-- words are the words that terms has for the entity, one per line, so that they can be
-- found there. body is the JSON that is served. etag_at and relations_at are the byte
-- offsets of the etag and the key "relations", so that both can be replaced without
-- parsing body. The table is not clustered: its rows are too wide for an index.
CREATE TABLE documents (
  ref          {{.Text}} NOT NULL PRIMARY KEY,
  words        {{.Text}} NOT NULL,
  etag_at      INTEGER NOT NULL,
  relations_at INTEGER NOT NULL,
  body         {{.Bytes}} NOT NULL
);
{{.Uncompressed}}

-- The keys of fields in lower case. The id of a key never changes.
CREATE TABLE keys (
  id  INTEGER NOT NULL PRIMARY KEY,
  key {{.Text}} NOT NULL UNIQUE
);

-- One row for each field and value. value is in lower case; original is the value as
-- written, if that differs.
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

-- declarer is the entity that declares the relation. The entities source and target need
-- not exist.
CREATE TABLE relations (
  source   {{.Text}} NOT NULL,
  type     {{.Text}} NOT NULL,
  target   {{.Text}} NOT NULL,
  declarer {{.Text}} NOT NULL,
  PRIMARY KEY (source, type, target, declarer)
) {{.Clustered}};
CREATE INDEX relations_declarer ON relations (declarer);

-- One row. Every transaction that changes entities increments n first, so such
-- transactions run one after the other.
CREATE TABLE revision (
  n BIGINT NOT NULL
);
INSERT INTO revision (n) VALUES (1);

-- Times are in milliseconds since 1970.
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
