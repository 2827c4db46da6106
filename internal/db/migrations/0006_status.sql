-- What the words in braces mean for each engine is in migrate.go.

-- What people may see of how an object fares. It is no part of what the object is.
ALTER TABLE object_bodies ADD COLUMN status {{.Bytes}};
