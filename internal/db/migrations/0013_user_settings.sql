-- The words in braces are replaced for each database engine in migrate.go.

-- What users store for themselves, such as starred entities. subject is the reference of the
-- user, value is JSON. The table is not clustered: its rows are too wide for an index.
CREATE TABLE user_settings (
  subject {{.Text}} NOT NULL,
  bucket  {{.Text}} NOT NULL,
  key     {{.Text}} NOT NULL,
  value   {{.Bytes}} NOT NULL,
  PRIMARY KEY (subject, bucket, key)
);
