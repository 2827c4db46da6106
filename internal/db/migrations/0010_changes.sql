-- What the words in braces mean for each engine is in migrate.go.

-- The references of the entities that each of the last revisions changed, as
-- changes.go says.
CREATE TABLE changes (
  revision BIGINT NOT NULL,
  ref      {{.Text}} NOT NULL,
  PRIMARY KEY (revision, ref)
) {{.Clustered}};
