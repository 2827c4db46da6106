package crossplane_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/internal/cli/composer/status"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/xrd/composed"
)

// expected is what is known about a composite before it is read.
type expected struct {
	reason     string
	kind, name string
	// parts are the kinds of the objects below the composite, in the order of the tree.
	parts []string
	// blamed is the kind of the object that keeps the composite from being ready; empty
	// if it is ready.
	blamed string
	// source is the condition of that object that says why, or "event".
	source string
	// says is a part of the message.
	says string
}

// TestLiving compares the tree of composites, and why they are not ready, with what the
// real Crossplane writes into the cluster.
func TestLiving(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	core.Define(t, crossplane.Definitions)
	s.Apply(t, crossplane.Resources)
	on, err := cluster.Connect(source.Cluster{Name: "test", Kubeconfig: s.Kubeconfig}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, core: core, on: on, kubeconfig: s.Kubeconfig, kinds: live.NewKinds(time.Now)}

	t.Run("Ingested", func(t *testing.T) {
		out, code := w.run(t, "discover", "-o", "json")
		var found struct{ Count int }
		if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 || found.Count != 4 {
			t.Errorf("found %d definitions, want 4: exit code %d, %v\n%s", found.Count, code, err, out)
		}
	})
	site := []string{"ConfigMap", "ConfigMap"}
	shop := []string{"Quota", "ResourceQuota", "Website", "ConfigMap", "ConfigMap"}
	const refused = "must be greater than or equal to 0"
	for name, tc := range map[string]expected{
		"Ready":    {reason: "A composite whose objects exist is ready.", kind: "Website", name: "docs", parts: site},
		"LeftOut":  {reason: "Crossplane leaves out an object without a required field, and calls the rest ready.", kind: "Website", name: "untitled", parts: site[:1]},
		"Nested":   {reason: "A composite of composites is ready if they are.", kind: "Shop", name: "books", parts: shop},
		"Refused":  {reason: "The API server's words are in an event.", kind: "Quota", name: "negative", parts: []string{"ResourceQuota"}, blamed: "Quota", source: "event", says: refused},
		"Deep":     {reason: "The cause is below the composite.", kind: "Shop", name: "records", parts: shop, blamed: "Quota", source: "event", says: refused},
		"Unserved": {reason: "Crossplane says which kind is not served.", kind: "Backup", name: "nightly", blamed: "Backup", source: "Synced", says: `no matches for kind "Snapshot"`},
	} {
		t.Run(name, func(t *testing.T) { w.await(t, tc) })
	}

	s.Apply(t, apiserver.CRD("disks.example.org", "Snapshot", "snapshots", "Namespaced"))
	w.change("websites/untitled", "title", "Titled")
	w.change("quotas/negative", "pods", 3)
	w.change("shops/records", "pods", 3)
	w.change("backups/nightly", "disk", "invoices")
	for name, tc := range map[string]expected{
		"Added":    {reason: "The object that was left out is part of it.", kind: "Website", name: "untitled", parts: site},
		"Accepted": {reason: "A corrected composite becomes ready.", kind: "Quota", name: "negative", parts: []string{"ResourceQuota"}},
		"Reached":  {reason: "A correction reaches the nested composite.", kind: "Shop", name: "records", parts: shop},
		"Waiting":  {reason: "The object exists, but its controller says nothing.", kind: "Backup", name: "nightly", parts: []string{"Snapshot"}, blamed: "Backup", source: "Ready", says: "Unready resources: snapshot"},
	} {
		t.Run(name, func(t *testing.T) { w.await(t, tc) })
	}
}

// world is a cluster with Crossplane.
type world struct {
	t          *testing.T
	core       *crossplane.Core
	on         *cluster.Cluster
	kubeconfig string
	kinds      *live.Kinds
}

// change changes a field of a composite.
func (w *world) change(composite, field string, value any) {
	w.t.Helper()
	fields := map[string]any{"spec": map[string]any{field: value}}
	if err := w.core.Patch("/apis/shops.example.org/v1/namespaces/shops/"+composite, fields); err != nil {
		w.t.Fatal(err)
	}
}

// await waits until a composite is as expected, in the tree, in the output of the command
// line, and in the cluster. Crossplane may change it between two readings.
func (w *world) await(t *testing.T, want expected) {
	t.Helper()
	root := composed.Ref{APIVersion: "shops.example.org/v1", Kind: want.kind, Namespace: "shops", Name: want.name}
	w.core.Await(t, want.reason, func() error {
		plain, err := w.read(root)
		if err != nil {
			return err
		}
		tree, err := composed.Build(t.Context(), live.NewReader(w.on, w.kinds), root, composed.Options{})
		if err != nil {
			return err
		}
		if err := plain.agrees(tree, tree.Why(), want); err != nil {
			return fmt.Errorf("tree: %w", err)
		}
		shown, reason, err := w.status(t, want)
		if err != nil {
			return err
		}
		if err := plain.agrees(shown, reason, want); err != nil {
			return fmt.Errorf("composer-ingestor status: %w", err)
		}
		return nil
	})
}

// status returns what the command line shows of a composite, after it has compared its two
// formats.
func (w *world) status(t *testing.T, want expected) (*composed.Node, *composed.Reason, error) {
	t.Helper()
	args := []string{"status", strings.ToLower(want.kind) + "/" + want.name, "-n", "shops", "-o"}
	run := func(format string) (string, int) { return w.run(t, append(args, format)...) }
	text, code := run("json")
	var found struct{ Clusters []status.Result }
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Clusters) != 1 {
		return nil, nil, fmt.Errorf("cannot read the output %q: %w", text, err)
	}
	r := found.Clusters[0]
	first, wantCode := "ready\n", 0
	if r.Reason != nil {
		first, wantCode = "not ready: "+r.Reason.String(), app.ExitInvalid
	}
	text, textCode := run("text")
	if !strings.HasPrefix(text, first) || code != wantCode || textCode != wantCode {
		return nil, nil, fmt.Errorf("output begins with %.200q, want %q; exit codes are %d and %d, want %d", text, first, code, textCode, wantCode)
	}
	for _, n := range flatten(r.Tree) {
		if !strings.Contains(text, n.Ref.String()) {
			return nil, nil, fmt.Errorf("output does not show %s:\n%s", n.Ref, text)
		}
	}
	return r.Tree, r.Reason, nil
}

// run runs composer-ingestor, and returns its output and exit code.
func (w *world) run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, notes bytes.Buffer
	env := &app.Env{Args: append(args, "--kubeconfig", w.kubeconfig, "--quiet"), Stdout: &out, Stderr: &notes, Now: time.Now, Getenv: func(string) string { return "" }}
	code := app.Run(t.Context(), composer.Name, env, composer.Run)
	return out.String() + notes.String(), code
}

// flatten returns a node and all below it, in the order of the tree.
func flatten(n *composed.Node) []*composed.Node {
	all := []*composed.Node{n}
	for _, c := range n.Children {
		all = append(all, flatten(c)...)
	}
	return all
}

// agrees returns an error unless a tree and a reason equal the plain objects and what is
// expected of them.
func (o *object) agrees(tree *composed.Node, why *composed.Reason, want expected) error {
	if diff := cmp.Diff(o.lines(), lines(tree)); diff != "" {
		return fmt.Errorf("tree differs from the cluster (-cluster +tree):\n%s", diff)
	}
	var parts []string
	for _, n := range flatten(tree)[1:] {
		parts = append(parts, n.Ref.Kind)
	}
	if diff := cmp.Diff(want.parts, parts); diff != "" {
		return fmt.Errorf("parts (-want +got):\n%s", diff)
	}
	if want.blamed == "" {
		if why != nil || o.condition("Ready").Status != "True" {
			return fmt.Errorf("composite is not ready: %v, %+v", why, o.Status.Conditions)
		}
		return nil
	}
	if why == nil || why.Object.Kind != want.blamed || why.Source != want.source {
		return fmt.Errorf("reason is %+v, want %s of %s", why, want.source, want.blamed)
	}
	message := o.find(why.Object).message(want.source)
	if message == "" || !strings.Contains(message, want.says) || !strings.HasSuffix(why.String(), message) {
		return fmt.Errorf("reason is %q, but the cluster says %q, want %q in both", why, message, want.says)
	}
	return nil
}
