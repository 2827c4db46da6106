-- The words in braces are replaced for each database engine in migrate.go.

-- Fencing tokens by name. n is incremented whenever a writer starts; writes of earlier
-- writers with that name then fail.
CREATE TABLE fences (
  name {{.Text}} NOT NULL PRIMARY KEY,
  n    BIGINT NOT NULL
) {{.Clustered}};

-- The uids of removed entities, which are used again if the entity returns. gone is the
-- time of the removal in milliseconds since 1970.
CREATE TABLE departed (
  ref  {{.Text}} NOT NULL PRIMARY KEY,
  uid  {{.Text}} NOT NULL,
  gone BIGINT NOT NULL
) {{.Clustered}};
CREATE INDEX departed_gone ON departed (gone);
