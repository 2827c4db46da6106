-- When an entity was added, and when its document last changed, in milliseconds since 1970.
-- Both are unknown for entities of before, changed_at until their next change.
ALTER TABLE entities ADD COLUMN created_at BIGINT;
ALTER TABLE entities ADD COLUMN changed_at BIGINT;
CREATE INDEX entities_changed ON entities (changed_at DESC, ref);
