-- The words in braces are replaced for each database engine in migrate.go.

-- The status of an object that users may see. It is not part of body.
ALTER TABLE object_bodies ADD COLUMN status {{.Bytes}};
