-- What the words in braces mean for each engine is in migrate.go.

-- Who does a thing last, by the name of the thing: n is another one whenever
-- somebody begins, and whoever began before writes no more.
CREATE TABLE fences (
  name {{.Text}} NOT NULL PRIMARY KEY,
  n    BIGINT NOT NULL
) {{.Clustered}};

-- The uids of entities that were removed at gone, in milliseconds, for those that
-- come back.
CREATE TABLE departed (
  ref  {{.Text}} NOT NULL PRIMARY KEY,
  uid  {{.Text}} NOT NULL,
  gone BIGINT NOT NULL
) {{.Clustered}};
CREATE INDEX departed_gone ON departed (gone);
