-- The caller on whose behalf a task runs. caller is JSON; subject identifies the caller, for
-- counting tasks per caller. Older tasks have neither.
ALTER TABLE tasks ADD COLUMN caller {{.Bytes}};
ALTER TABLE tasks ADD COLUMN subject {{.Text}} NOT NULL DEFAULT '';
