-- What the words in braces mean for each engine is in migrate.go.

-- What a run did to entities, beside the run, which is read far more often.
ALTER TABLE runs ADD COLUMN changes {{.Bytes}};

-- What is worth knowing about units, as they were when they were looked at: severity
-- is 0 for an error, 1 for a warning and 2 for a remark.
CREATE TABLE findings (
  unit     {{.Text}} NOT NULL,
  n        INTEGER NOT NULL,
  severity INTEGER NOT NULL,
  rule     {{.Text}} NOT NULL,
  finding  {{.Bytes}} NOT NULL,
  PRIMARY KEY (unit, n)
);
CREATE INDEX findings_order ON findings (severity, rule, unit, n);

-- Units that changed since they were looked at, with the stamp of the last change.
CREATE TABLE unchecked (
  unit  {{.Text}} NOT NULL PRIMARY KEY,
  stamp BIGINT NOT NULL
) {{.Clustered}};
INSERT INTO unchecked (unit, stamp) SELECT DISTINCT unit, 0 FROM objects WHERE gone = 0 AND unit <> '';
