-- The words in braces are replaced for each database engine in migrate.go.

-- The kinds of the objects that composites refer to as their parts, by the kind of the
-- composite. The entities of a unit depend on which of the parts have entities themselves.
-- Rows stay until their list is dropped: a superfluous one costs a build.
CREATE TABLE parts (
  source  {{.Text}} NOT NULL,
  list    {{.Text}} NOT NULL,
  of_kind {{.Text}} NOT NULL,
  part    {{.Text}} NOT NULL,
  PRIMARY KEY (source, list, of_kind, part)
) {{.Clustered}};
CREATE INDEX parts_part ON parts (part, of_kind);
