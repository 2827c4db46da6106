package cluster

import (
	"context"
	"errors"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/fields"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// record writes to the audit log that a document was applied or deleted, or why it
// was not. before is the previous object, after the new one; nil if there is none.
func (a *applying) record(d *manifest.Document, before, after *tree.Node, err error) {
	operation := "update"
	switch {
	case d.Verb == manifest.VerbDelete:
		operation = ""
	case before == nil:
		operation = "create"
	}
	a.event(d, operation, fields.Changed(before, after), err)
}

// refused writes to the audit log that a document was refused before anything was
// written, and returns err. If there are several documents, the error determines
// which one.
func (a *applying) refused(docs []*manifest.Document, err error) error {
	at := &manifest.Document{Verb: docs[0].Verb}
	e, named := errors.AsType[*cluster.Error](err)
	for _, d := range docs {
		if len(docs) == 1 || named && d.Doing() == e.Doing {
			at = d
		}
	}
	if !errors.Is(err, context.Canceled) {
		a.event(at, "", nil, err)
	}
	return err
}

// event writes an audit event about a document, except in a dry run.
func (a *applying) event(d *manifest.Document, operation string, changed []string, err error) {
	if a.audit == nil || a.Dry {
		return
	}
	name := action.EventClusterApply
	if d.Verb == manifest.VerbDelete {
		name = action.EventClusterDelete
	}
	target := map[string]string{
		"cluster": a.on.Name(), "namespace": d.Namespace, "apiVersion": d.APIVersion, "kind": d.Kind, "name": d.Name, "operation": operation,
	}
	if len(changed) > 0 {
		target["fields"] = strings.Join(changed, " ")
	}
	a.audit(name, target, classified(err))
}

// classified returns only the class of an error, because the message of a cluster
// may quote the manifest.
func classified(err error) error {
	switch why := refusal.ReasonOf(err); {
	case err == nil:
		return nil
	case why != "":
		return errors.New(string(why))
	case errors.Is(err, context.Canceled):
		return errors.New(string(cluster.Canceled))
	}
	return errors.New("error")
}
