-- The words in braces are replaced for each database engine in migrate.go.

-- Entities have a number, which is never used again.
ALTER TABLE entities ADD COLUMN id BIGINT NOT NULL DEFAULT 0;
UPDATE entities SET id = numbered.n FROM (SELECT ref, row_number() OVER (ORDER BY ref) AS n FROM entities) numbered
WHERE numbered.ref = entities.ref;
CREATE UNIQUE INDEX entities_id ON entities (id);

-- One row: the last id of an entity.
CREATE TABLE last_id (
  n BIGINT NOT NULL
);
INSERT INTO last_id (n) SELECT coalesce(max(id), 0) FROM entities;

-- Which entities have a value: sets of ids in the format of idset. kid is the number of a
-- key. A negative kid is the negative number of a key: the entities that have a value for it.
-- 0 is for words, and with an empty value for all entities. value and original are as in
-- fields. n is the number of ids. migrate_postings.go fills the table from search and terms,
-- which it replaces.
CREATE TABLE postings (
  kid      INTEGER NOT NULL,
  value    {{.Text}} NOT NULL,
  original {{.Text}} NOT NULL,
  block    INTEGER NOT NULL,
  n        INTEGER NOT NULL,
  ids      {{.Bytes}} NOT NULL,
  PRIMARY KEY (kid, value, original, block)
) {{.Clustered}};
{{.Undivided}}
