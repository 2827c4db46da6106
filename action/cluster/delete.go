package cluster

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/input"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// remove implements cluster:delete. It deletes only objects that the portal
// applied, unless takeOver is set.
func (w *writer) remove(ctx context.Context, c *action.Call, d *manifest.Document, o input.Step) error {
	if err := d.CheckNames(); err != nil {
		return err
	}
	a, err := w.begin(c, o)
	if err != nil {
		return err
	}
	on := a.on
	k, err := w.kinds.Find(ctx, on.Account(), d)
	if err != nil {
		return err
	}
	if err := d.Settle(k, o.Namespace); err != nil {
		return err
	}
	if err := a.look(ctx, []*manifest.Document{d}); err != nil {
		return err
	}
	n := a.before[d]
	if n == nil {
		if o.MustExist {
			return refusal.Errorf(on, d.Doing(), refusal.Missing, "check its name and namespace", "not found")
		}
		a.logf("%s is not in cluster %s", d, on.Name())
		c.Output("deleted", tree.Boolean(false))
		return nil
	}
	if err := a.mayWrite(d, n); err != nil {
		return a.refused([]*manifest.Document{d}, err)
	}
	if err := a.delete(ctx, d, n); err != nil {
		return err
	}
	c.Output("deleted", tree.Boolean(!o.Dry))
	c.Output("resources", tree.Arr(d.Reference(on.Name(), n.Get("metadata", "uid").Str())))
	if o.Dry || o.Wait == 0 {
		return nil
	}
	return a.awaitGone(ctx, d, n.Get("metadata", "uid").Str())
}

// delete deletes an object, with its UID as a precondition.
func (a *applying) delete(ctx context.Context, d *manifest.Document, n *tree.Node) error {
	if n.Get("metadata", "deletionTimestamp") != nil {
		a.logf("%s in cluster %s is already being deleted", d, a.on.Name())
		return nil
	}
	// The server ignores options in the query if there is a body.
	body := tree.Obj(
		tree.F("apiVersion", tree.Str("v1")), tree.F("kind", tree.Str("DeleteOptions")),
		tree.F("propagationPolicy", tree.Str(a.Propagation)),
		tree.F("preconditions", tree.Obj(tree.F("uid", n.Get("metadata", "uid")))),
	)
	if a.Dry {
		body.Set("dryRun", tree.Strs([]string{"All"}))
	}
	_, err := a.on.Do(ctx, cluster.Call{
		Doing: d.Doing(), Method: http.MethodDelete, Path: d.Served.Path(d.Namespace, d.Name),
		Body: tree.AppendJSON(nil, body, ""), Needs: d.Served.Needs("get", "delete"),
	})
	if r, ok := cluster.RefusalOf(err); ok && r.Code == http.StatusNotFound && r.Name == d.Name {
		// The object was already gone, or deleted by a request of ours whose response
		// was lost.
		err = nil
	}
	err = a.explain(ctx, d, err)
	a.record(d, n, nil, err)
	if err != nil {
		return err
	}
	if a.Dry {
		a.logf("%s in cluster %s would be deleted", d, a.on.Name())
		a.compare(d, n, nil)
		return nil
	}
	a.logf("requested deletion of %s in cluster %s", d, a.on.Name())
	return nil
}

// awaitGone waits until an object is gone, and logs the finalizers that keep it.
func (a *applying) awaitGone(ctx context.Context, d *manifest.Document, uid string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, a.Wait, errLate)
	defer cancel()
	seen, keeps := conditions{}, ""
	err := a.poll(ctx, d, func(n *tree.Node) (bool, error) {
		if n == nil || n.Get("metadata", "uid").Str() != uid {
			a.logf("%s in cluster %s is gone", d, a.on.Name())
			return true, nil
		}
		for _, line := range seen.changes(n) {
			a.logf("%s: %s", d, line)
		}
		if now := strings.Join(n.Get("metadata", "finalizers").Strings(), ", "); now != keeps {
			keeps = now
			a.logf("%s: waiting for finalizers %s", d, now)
		}
		return false, nil
	})
	if errors.Is(err, errLate) {
		return refusal.Errorf(a.on, "wait for the deletion of "+d.String(), refusal.Late, "check the logs of the controllers that own the finalizers, or wait longer",
			"still exists after %v; finalizers: %s", a.Wait, orNone(keeps))
	}
	return err
}

func orNone(names string) string {
	if names == "" {
		return "none"
	}
	return names
}
