package cluster

import (
	"context"
	"errors"

	"example.dev/ingestor/action"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/tree"
)

// record writes to the audit log that a document was applied or deleted, or why
// it was not. before is the object as it was; nil if there was none.
func (a *applying) record(d *document, before *tree.Node, err error) {
	if a.audit == nil || a.dry {
		return
	}
	event, operation := action.EventClusterApply, "update"
	switch {
	case d.verb == verbDelete:
		event, operation = action.EventClusterDelete, ""
	case before == nil:
		operation = "create"
	}
	a.audit(event, map[string]string{
		"cluster": a.on.Name(), "namespace": d.namespace, "apiVersion": d.apiVersion, "kind": d.kind, "name": d.name, "operation": operation,
	}, classified(err))
}

// classified returns the kind of an error alone: what a cluster says may quote
// the manifest.
func classified(err error) error {
	switch why := reason(err); {
	case err == nil:
		return nil
	case why != "":
		return errors.New(string(why))
	case errors.Is(err, context.Canceled):
		return errors.New(string(cluster.Canceled))
	}
	return errors.New("error")
}
