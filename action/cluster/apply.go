package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/fields"
	"example.dev/ingestor/action/cluster/internal/input"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/action/cluster/internal/served"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// applying is one run of cluster:apply or cluster:delete.
type applying struct {
	*writer
	input.Step
	// on is the cluster with the identity of the caller.
	on   *cluster.Cluster
	logf func(format string, args ...any)
	// change receives the changes of a dry run; it may be nil.
	change func(action.Change)
	// audit writes to the audit log; it may be nil.
	audit func(event string, target map[string]string, err error)
	// caller is the caller of the task, task and template are the names of the task
	// and the Template, and require checks the caller's permissions.
	caller         action.Caller
	task, template string
	require        func(ctx context.Context, permission string, t action.Target) error
	// before holds the objects as they were when the step began, nil for those that
	// did not exist.
	before map[*manifest.Document]*tree.Node
}

// begin selects the cluster of a step, with the identity of the caller.
func (w *writer) begin(c *action.Call, o input.Step) (*applying, error) {
	on, err := w.choose(o.Cluster)
	if err != nil {
		return nil, err
	}
	if on, err = actAs(on, c.Caller); err != nil {
		return nil, err
	}
	logf := c.Logf
	if logf == nil {
		logf = func(string, ...any) {}
	}
	return &applying{
		writer: w, Step: o, on: on, logf: logf, change: c.Change, audit: c.Record,
		caller: c.Caller, task: c.Task, template: c.Template, require: c.Require, before: map[*manifest.Document]*tree.Node{},
	}, nil
}

// apply implements cluster:apply.
func (w *writer) apply(ctx context.Context, c *action.Call, o input.Step) error {
	docs, err := manifest.Read(o.Manifest)
	if err != nil {
		return err
	}
	a, err := w.begin(c, o)
	if err != nil {
		return err
	}
	if o.Observed != "" && len(docs) > 1 {
		return action.Errorf("remove observed, or use several steps", "cannot use observed: requires a manifest with one object, not %d", len(docs))
	}
	// Check every document before changing anything.
	if err := a.prepare(ctx, docs); err != nil {
		return a.refused(docs, err)
	}
	before, err := a.try(ctx, docs)
	if err != nil {
		return a.refused(docs, err)
	}
	uids := make([]string, len(docs))
	for i, n := range before {
		uids[i] = n.Get("metadata", "uid").Str()
	}
	if !o.Dry {
		if uids, err = a.write(ctx, docs, before); err != nil {
			return err
		}
	}
	resources := tree.Arr()
	for i, d := range docs {
		resources.Items = append(resources.Items, d.Reference(a.on.Name(), uids[i]))
	}
	c.Output("resources", resources)
	c.Output("manifest", tree.Str(manifest.YAML(docs)))
	if o.Dry || o.Wait == 0 {
		return nil
	}
	return a.awaitReady(ctx, docs)
}

// prepare finds out how the documents are served, and validates them against the
// schemas of their definitions.
func (a *applying) prepare(ctx context.Context, docs []*manifest.Document) error {
	for _, d := range docs {
		k, err := a.kinds.Find(ctx, a.on.Account(), d)
		if err != nil {
			return err
		}
		if err := d.Settle(k, a.Namespace); err != nil {
			return err
		}
	}
	if err := manifest.Distinct(docs); err != nil {
		return err
	}
	if err := a.look(ctx, docs); err != nil {
		return err
	}
	for _, d := range docs {
		whole, err := a.whole(d)
		if err != nil {
			return err
		}
		if err := a.kinds.Check(ctx, a.on.Account(), whole); err != nil {
			return err
		}
	}
	return nil
}

// try does a dry run of all documents on the server. It returns the live objects,
// nil for those that do not exist.
func (a *applying) try(ctx context.Context, docs []*manifest.Document) ([]*tree.Node, error) {
	before := make([]*tree.Node, len(docs))
	made := map[string]bool{}
	for i, d := range docs {
		before[i] = a.before[d]
		if d.APIVersion == "v1" && d.Kind == "Namespace" && before[i] == nil {
			made[d.Name] = true
		}
		if d.Namespace != "" && made[d.Namespace] {
			a.logf("skipped dry run of %s: its namespace does not exist yet", d)
			continue
		}
		if before[i] == nil && a.Update {
			return nil, a.missing(d)
		}
		after, err := a.patch(ctx, d, before[i], true)
		if err != nil {
			return nil, err
		}
		if gone := refusal.Dropped(d, after); len(gone) > 0 {
			return nil, refusal.InvalidFields(a.on, d, gone)
		}
		if err := a.mayWrite(d, before[i]); err != nil {
			return nil, err
		}
		if err := a.conflict(d, a.Observed, before[i]); err != nil && !fields.Same(before[i], after) {
			return nil, err
		}
		if a.Dry {
			a.logf("%s in cluster %s would be %s", d, a.on.Name(), change(before[i], after))
			a.compare(d, before[i], after)
		}
	}
	return before, nil
}

// change describes what happens to an object.
func change(before, after *tree.Node) string {
	switch {
	case before == nil:
		return "created"
	case before.Get("spec").Equal(after.Get("spec")) && before.Get("metadata", "resourceVersion").Equal(after.Get("metadata", "resourceVersion")):
		return "left unchanged"
	}
	return "changed"
}

// mayWrite returns an error if the portal did not create an object, or the object
// belongs to another owner, and takeOver is not set.
func (a *applying) mayWrite(d *manifest.Document, before *tree.Node) error {
	if before == nil || a.TakeOver {
		return nil
	}
	if yes, others := fields.Ours(before); !yes {
		what := "object was not created by the portal"
		hint := "set takeOver to true to delete it anyway"
		switch {
		case a.Update:
			hint = "change it at its source, or set takeOver to true to change it anyway"
		case d.Verb == manifest.VerbApply:
			what = "object already exists, and was not created by the portal"
			hint = "choose another name, or set takeOver to true to change it anyway"
		}
		if len(others) > 0 {
			what += ", but by " + quoted(others)
		}
		return refusal.Errorf(a.on, d.Doing(), refusal.Foreign, hint, "%s", what)
	}
	owner, wanted := ownerOf(before), ownerOf(d.Node)
	if a.Update || d.Verb != manifest.VerbApply {
		// An update or deletion names an existing object on purpose.
		return nil
	}
	if owner != "" && owner != wanted {
		hint := "choose another name, or set takeOver to true to transfer it to " + wanted
		if wanted == "" {
			hint = "choose another name, or set the owner of the existing object"
		}
		return refusal.Errorf(a.on, d.Doing(), refusal.Foreign, hint, "object already exists and belongs to %s", owner)
	}
	return nil
}

// ownerOf returns the owner annotation of an object.
func ownerOf(n *tree.Node) string {
	return words.KeysIn(n.Get("metadata", "annotations").StringMap())[words.AnnotationOwner]
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return refusal.Join(out)
}

// write applies the documents in order and returns their UIDs. Once started, it
// continues for a grace period after the task is cancelled, so that the documents
// are not applied only in part.
func (a *applying) write(ctx context.Context, docs []*manifest.Document, before []*tree.Node) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	longer, cancel := finish(ctx)
	defer cancel()
	uids := make([]string, len(docs))
	for i, d := range docs {
		after, err := a.put(longer, d, before[i])
		if gone := refusal.Dropped(d, after); err == nil && len(gone) > 0 {
			// The object was written, but not as requested.
			err = refusal.InvalidFields(a.on, d, gone)
		}
		a.record(d, before[i], after, err)
		if err != nil {
			return nil, partly(err, docs[:i])
		}
		uids[i] = after.Get("metadata", "uid").Str()
		a.logf("%s in cluster %s was %s", d, a.on.Name(), change(before[i], after))
	}
	return uids, nil
}

// partly adds to an error the documents that were applied before it.
func partly(err error, done []*manifest.Document) error {
	if len(done) == 0 {
		return err
	}
	var names []string
	for _, d := range done {
		names = append(names, d.String())
	}
	return &action.Error{Err: err, Hint: strings.TrimPrefix(hintOf(err)+"\n"+refusal.Join(names)+" was already applied; running the step again does not change it", "\n")}
}

// patch applies a document, or does a dry run of it. before is the live object;
// nil if it does not exist.
func (a *applying) patch(ctx context.Context, d *manifest.Document, before *tree.Node, dry bool) (*tree.Node, error) {
	query := url.Values{"fieldManager": {Manager}, "fieldValidation": {"Strict"}}
	if a.TakeOver {
		query.Set("force", "true")
	}
	if dry {
		query.Set("dryRun", "All")
	}
	n, err := a.on.Do(ctx, cluster.Call{
		Doing: d.Doing(), Method: http.MethodPatch, Path: d.Served.Path(d.Namespace, d.Name), Query: query,
		Type: "application/apply-patch+yaml", Body: tree.AppendJSON(nil, fields.WithoutEmptied(a.stamp(a.body(d, before, dry), before), before), ""),
		Needs: d.Served.Needs("get", "create", "patch"),
	})
	return n, a.explain(ctx, d, err)
}

// explain returns the reason why a document was refused.
func (a *applying) explain(ctx context.Context, d *manifest.Document, err error) error {
	if err == nil {
		return nil
	}
	err = refusal.Explain(a.on, d, err)
	if bad, ok := errors.AsType[*refusal.InvalidError](err); ok {
		err = refusal.InvalidFields(a.on, d, a.kinds.Titled(a.on, d, bad.Problems))
	}
	if refusal.ReasonOf(err) == cluster.Absent {
		a.kinds.Forget(a.on.Account(), d)
		if why := served.NotEstablished(ctx, a.on.Account(), d); why != nil {
			err = why
		}
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}

// hintOf returns the hint of an error, if it has one.
func hintOf(err error) string {
	if e, ok := errors.AsType[*action.Error](err); ok {
		return e.Hint
	}
	return ""
}
