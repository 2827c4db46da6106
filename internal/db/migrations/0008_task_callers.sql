-- Who a task acts for. caller is JSON, and subject tells callers apart, for
-- counting. Tasks of before have neither.
ALTER TABLE tasks ADD COLUMN caller {{.Bytes}};
ALTER TABLE tasks ADD COLUMN subject {{.Text}} NOT NULL DEFAULT '';
