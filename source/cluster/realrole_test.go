package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/xrd"
)

// role reads deploy/rbac.yaml and returns it under other names, without one of
// its rules, or complete if without is negative.
func role(t *testing.T, account string, without int) (manifest string, rules int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	docs, bad := parser.DecodeBytes(data)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	var out strings.Builder
	for _, d := range docs {
		if d.Get("kind").Str() == "ClusterRole" {
			all := d.Get("rules")
			rules = len(all.Items)
			if without >= 0 {
				all.Items = slices.Delete(slices.Clone(all.Items), without, without+1)
			}
		}
		out.WriteString("---\n")
		out.Write(tree.AppendYAML(nil, d))
	}
	return strings.ReplaceAll(out.String(), "name: composer-ingestor", "name: "+account), rules
}

// TestRole checks deploy/rbac.yaml against what the service does: with it
// everything works, and without any one of its rules something fails with a
// message that names the rule.
func TestRole(t *testing.T) {
	up, own := upstream(t), portal(t)
	platform := definition(crossplaneV2, "kappas.platform.example.org", "")
	up.Apply(t, platform, composition(crossplaneV1, "kappa-one", "platform.example.org", "Kappas"))
	own.Apply(t, strings.ReplaceAll(platform, "crossplane", "composer"), composition(composerV1, "kappa-one", "platform.example.org", "Kappas"))
	ours := func(d *xrd.Definition) bool { return d.Name == "kappas.platform.example.org" }

	// try does everything that the service does, with the permissions of the
	// account.
	try := func(account string) (errs []*cluster.Error, checks []cluster.Check) {
		for name, s := range map[string]*apiserver.Server{"up": up, "own": own} {
			began := make(streams, 100)
			c := as(t, name, s, s.Token(t, "composer-ingestor", account), cluster.Options{Log: slog.New(began)})
			_, err := c.Read(t.Context(), cluster.ReadOptions{Composites: ours})
			if joined, ok := err.(interface{ Unwrap() []error }); ok {
				for _, e := range joined.Unwrap() {
					one, ok := errors.AsType[*cluster.Error](e)
					if !ok {
						t.Fatalf("error has another type: %v", e)
					}
					errs = append(errs, one)
				}
			} else if err != nil {
				t.Fatalf("error has another type: %v", err)
			}
			errs = append(errs, serve(t, c, began)...)
			c.Check(t.Context(), cluster.CheckOptions{Composites: ours, Watch: true, Workloads: cluster.Workloads(nil)}, func(k cluster.Check) {
				if k.Result == cluster.Failed {
					checks = append(checks, k)
				}
			})
		}
		return errs, checks
	}

	whole, rules := role(t, "whole", -1)
	whole = strings.ReplaceAll(whole, "namespace: whole", "namespace: composer-ingestor")
	up.Apply(t, whole)
	own.Apply(t, whole)
	if errs, checks := try("whole"); len(errs)+len(checks) > 0 {
		t.Errorf("role is not sufficient: %v %+v", errs, checks)
	}
	for i := range rules {
		t.Run(fmt.Sprint("Without", i), func(t *testing.T) {
			account := fmt.Sprint("without", i)
			less, _ := role(t, account, i)
			less = strings.ReplaceAll(less, "namespace: "+account, "namespace: composer-ingestor")
			up.Apply(t, less)
			own.Apply(t, less)
			errs, checks := try(account)
			if len(errs) == 0 || len(checks) == 0 {
				t.Fatalf("nothing fails without the rule: errors %v, checks %+v", errs, checks)
			}
			for _, e := range errs {
				if e.Reason != cluster.Forbidden || !strings.Contains(e.Hint, "add this rule") || !strings.Contains(e.Hint, e.Missing.YAML()) {
					t.Errorf("error does not name the rule to add: %v\n%s", e, e.Hint)
				}
			}
			var missing []cluster.Rule
			for _, k := range checks {
				missing = append(missing, k.Missing)
			}
			// The role is sufficient again with the rules that the checks report as
			// missing.
			var more strings.Builder
			for _, r := range cluster.Merge(missing) {
				more.WriteString("\n" + r.YAML())
			}
			added := fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: more-%[1]s}\nrules:%[2]s\n---\n"+
				"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: more-%[1]s}\n"+
				"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: more-%[1]s}\n"+
				"subjects: [{kind: ServiceAccount, name: %[1]s, namespace: composer-ingestor}]\n", account, more.String())
			up.Apply(t, added)
			own.Apply(t, added)
			if errs, checks := try(account); len(errs)+len(checks) > 0 {
				t.Errorf("reported rules are not sufficient: %v %+v\n%s", errs, checks, added)
			}
		})
	}
}

// serve does what the service does in addition to reading: it fetches, watches,
// and surveys workloads. Each is done once, or refused.
func serve(t *testing.T, c *cluster.Cluster, began streams) (errs []*cluster.Error) {
	t.Helper()
	apis, err := c.APIs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := func(err error) {
		t.Helper()
		if err == nil {
			return
		}
		e, ok := errors.AsType[*cluster.Error](err)
		if !ok {
			t.Fatalf("error has another type: %v", err)
		}
		errs = append(errs, e)
	}
	kinds := map[cluster.Resource]cluster.NamespacedName{
		apis[0].DefinitionsResource():                                    {Name: "kappas.platform.example.org"},
		apis[0].CompositionsResource():                                   {Name: "kappa-one"},
		{Group: "platform.example.org", Version: "v1", Plural: "kappas"}: {Namespace: "default", Name: "none"},
	}
	for res, name := range kinds {
		_, _, err := c.Fetch(t.Context(), res, []cluster.NamespacedName{name})
		refused(err)
		refused(followOnce(t, c, began, res))
	}
	for _, k := range cluster.Workloads(nil) {
		_, err := c.Survey(t.Context(), k.Resource, "")
		refused(err)
	}
	_, err = c.Served(t.Context())
	refused(err)
	return errs
}

// followOnce watches a kind until a stream has begun or was refused.
func followOnce(t *testing.T, c *cluster.Cluster, began streams, res cluster.Resource) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		select {
		case <-began:
			cancel()
		case <-ctx.Done():
		}
	}()
	var trouble error
	err := c.Watch(ctx, res, "", cluster.WatchOptions{OnError: func(e *cluster.Error) {
		trouble = e
		cancel()
	}}, func(cluster.Event) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("watch ended with %v", err)
	}
	return trouble
}

// streams counts the streams that have begun, from the log of a cluster.
type streams chan struct{}

// Enabled accepts every level.
func (streams) Enabled(context.Context, slog.Level) bool { return true }

// Handle reports that a stream has begun.
func (s streams) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "stream opened" {
		s <- struct{}{}
	}
	return nil
}

// WithAttrs changes nothing.
func (s streams) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup changes nothing.
func (s streams) WithGroup(string) slog.Handler { return s }
