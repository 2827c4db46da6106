package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/fields"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// mostTries is how often an update is tried if the object is written concurrently,
// which its controller does now and then.
const mostTries = 10

// whole returns a document for validation. An update is merged into the live
// object, because it need not contain all required fields.
func (a *applying) whole(d *manifest.Document) (*manifest.Document, error) {
	if !a.Update {
		return d, nil
	}
	n := a.before[d]
	if n == nil {
		return nil, a.missing(d)
	}
	out := *d
	out.Node = tree.Overlay(n, d.Node)
	return &out, nil
}

// missing returns an error for an update of an object that does not exist.
func (a *applying) missing(d *manifest.Document) error {
	return refusal.Errorf(a.on, d.Doing(), refusal.Missing, "check its name, namespace and cluster, or create it first", "not found")
}

// put applies a document. An update applies to the revision that was read; if the
// object was written since, put reads it again and retries.
func (a *applying) put(ctx context.Context, d *manifest.Document, before *tree.Node) (*tree.Node, error) {
	for try := 1; ; try++ {
		after, err := a.patch(ctx, d, before, false)
		if !a.Update || !errors.Is(err, refusal.ErrWritten) || try == mostTries {
			return after, err
		}
		now, err := live(ctx, a.on, d)
		switch {
		case err != nil:
			return nil, a.explain(ctx, d, err)
		case now == nil:
			return nil, refusal.Errorf(a.on, d.Doing(), refusal.Missing, "create it again if needed", "object was deleted in the meantime")
		}
		if a.Observed != "" {
			if err := a.conflict(d, xrd.Observed(before), now); err != nil {
				return nil, err
			}
		}
		before = now
	}
}

// conflict returns an error if the requested fields of an object differ from the
// observed state. Fields that Crossplane fills in are ignored, and an empty
// observed state conflicts with nothing.
func (a *applying) conflict(d *manifest.Document, observed string, now *tree.Node) error {
	if observed == "" || now == nil {
		return nil
	}
	changed, err := xrd.Changed(observed, now)
	if err != nil {
		return action.Errorf("open the form again", "cannot use observed: %w", err)
	}
	if len(changed) == 0 {
		return nil
	}
	const most = 5
	names := changed
	if len(changed) > most {
		names = append(slices.Clone(changed[:most]), fmt.Sprintf("%d more", len(changed)-most))
	}
	return refusal.Errorf(a.on, d.Doing(), refusal.Conflict, "open the form again to see the current values",
		"the object was changed after the form was filled: %s", refusal.Join(names))
}

// compare reports how an object would differ in a dry run. The text of objects
// that the portal did not apply is hidden, because the user of a dry run may not
// have permission to read them.
func (a *applying) compare(d *manifest.Document, before, after *tree.Node) {
	if a.change == nil || before != nil && after != nil && fields.Same(before, after) {
		return
	}
	ch := action.Change{Where: "cluster " + a.on.Name(), Name: d.String()}
	if before != nil {
		if yes, _ := fields.Ours(before); !yes {
			ch.Hidden = action.HiddenForeign
		}
		ch.Before = tree.AppendYAML(nil, fields.Requested(before))
	}
	if after != nil {
		ch.After = tree.AppendYAML(nil, fields.Requested(after))
	}
	a.change(ch)
}

// body returns the content to send for a document. For an update of an object that
// the portal applied, fields that the manifest omits are kept, unless observed is
// set, which means that the user has seen the whole object. Except in a dry run,
// the resourceVersion makes the server refuse the update if the object was written
// in between.
func (a *applying) body(d *manifest.Document, before *tree.Node, dry bool) *tree.Node {
	if !a.Update || before == nil {
		return d.Node
	}
	out := d.Node
	if a.Observed == "" {
		out = tree.Overlay(fields.Owned(before), out)
	}
	if dry {
		return out
	}
	meta := tree.Obj(append([]tree.Field(nil), out.Get("metadata").Fields...)...)
	meta.Set("resourceVersion", before.Get("metadata", "resourceVersion"))
	out = tree.Obj(append([]tree.Field(nil), out.Fields...)...)
	out.Set("metadata", meta)
	return out
}
