-- What the words in braces mean for each engine is in migrate.go.

-- Sessions that were ended by a logout, until their last token has expired. Times are milliseconds since 1970.
CREATE TABLE revoked_sessions (
  id      {{.Text}} NOT NULL PRIMARY KEY,
  expires BIGINT NOT NULL
) {{.Clustered}};
