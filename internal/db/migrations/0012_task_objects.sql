-- What tasks have done to objects in clusters. object is the cluster, API group, kind,
-- namespace and name, separated by newlines. fields is a JSON list of the changed fields.
CREATE TABLE task_objects (
  object    {{.Text}} NOT NULL,
  at        BIGINT NOT NULL,
  task      {{.Text}} NOT NULL,
  operation {{.Text}} NOT NULL,
  fields    {{.Bytes}} NOT NULL,
  PRIMARY KEY (object, at, task)
) {{.Clustered}};
CREATE INDEX task_objects_task ON task_objects (task);
