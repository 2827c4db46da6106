-- How often Templates are used is counted in this index alone.
CREATE INDEX tasks_template ON tasks (template, created);
