-- The words in braces are replaced for each database engine in migrate.go.

-- The entity changes of a run. They have their own column, because run is read far more
-- often.
ALTER TABLE runs ADD COLUMN changes {{.Bytes}};

-- The findings of units, as of their last check. severity is 0 for an error, 1 for a
-- warning and 2 for a remark.
CREATE TABLE findings (
  unit     {{.Text}} NOT NULL,
  n        INTEGER NOT NULL,
  severity INTEGER NOT NULL,
  rule     {{.Text}} NOT NULL,
  finding  {{.Bytes}} NOT NULL,
  PRIMARY KEY (unit, n)
);
CREATE INDEX findings_order ON findings (severity, rule, unit, n);

-- Units that changed since their last check, with the stamp of the last change.
CREATE TABLE unchecked (
  unit  {{.Text}} NOT NULL PRIMARY KEY,
  stamp BIGINT NOT NULL
) {{.Clustered}};
INSERT INTO unchecked (unit, stamp) SELECT DISTINCT unit, 0 FROM objects WHERE gone = 0 AND unit <> '';
