package cluster

import (
	"context"
	"errors"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// record writes to the audit log that a document was applied or deleted, or why it
// was not. before is the previous object; nil if there was none.
func (a *applying) record(d *document, before *tree.Node, err error) {
	operation := "update"
	switch {
	case d.verb == verbDelete:
		operation = ""
	case before == nil:
		operation = "create"
	}
	a.event(d, operation, err)
}

// refused writes to the audit log that a document was refused before anything was
// written, and returns err. If there are several documents, the error determines
// which one.
func (a *applying) refused(docs []*document, err error) error {
	at := &document{verb: docs[0].verb}
	e, named := errors.AsType[*cluster.Error](err)
	for _, d := range docs {
		if len(docs) == 1 || named && d.doing() == e.Doing {
			at = d
		}
	}
	if !errors.Is(err, context.Canceled) {
		a.event(at, "", err)
	}
	return err
}

// event writes an audit event about a document, except in a dry run.
func (a *applying) event(d *document, operation string, err error) {
	if a.audit == nil || a.dry {
		return
	}
	name := action.EventClusterApply
	if d.verb == verbDelete {
		name = action.EventClusterDelete
	}
	a.audit(name, map[string]string{
		"cluster": a.on.Name(), "namespace": d.namespace, "apiVersion": d.apiVersion, "kind": d.kind, "name": d.name, "operation": operation,
	}, classified(err))
}

// classified returns only the class of an error, because the message of a cluster
// may quote the manifest.
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
