-- The words in braces are replaced for each database engine in migrate.go.

-- The change log: the references of the entities that each of the last revisions changed.
-- The format is in changes.go.
CREATE TABLE changes (
  revision BIGINT NOT NULL,
  ref      {{.Text}} NOT NULL,
  PRIMARY KEY (revision, ref)
) {{.Clustered}};
