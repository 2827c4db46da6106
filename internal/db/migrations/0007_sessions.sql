-- The words in braces are replaced for each database engine in migrate.go.

-- Sessions that were ended by a logout, until their last token has expired. Times are in
-- milliseconds since 1970.
CREATE TABLE revoked_sessions (
  id      {{.Text}} NOT NULL PRIMARY KEY,
  expires BIGINT NOT NULL
) {{.Clustered}};
