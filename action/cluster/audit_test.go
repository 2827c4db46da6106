package cluster_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	actions "example.dev/ingestor/action/cluster"
)

// TestAudit checks that each write is recorded with its target and its outcome,
// and a dry run is not. No record contains the content of a manifest.
func TestAudit(t *testing.T) {
	ns := namespace(t)
	all := actions.Actions(fleet(t), actions.Options{})
	apply, remove := all[0], all[1]
	reads := actions.Actions(account(t, "audit", `[{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]`), actions.Options{})
	target := func(more string) string {
		return " map[apiVersion:test.example.org/v1 cluster:real kind:Thing name:one namespace:" + ns + " operation:" + more
	}
	one := "{apiVersion: test.example.org/v1, kind: Thing, namespace: " + ns + ", name: one"
	steps := []struct {
		reason string
		run    func() *result
		want   []string
	}{
		{"A dry run writes no record.", func() *result {
			return do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "dryRun: true\n"))
		}, nil},
		{"A created object is recorded.", func() *result { return do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "")) },
			[]string{"cluster.apply" + target("create] <nil>")}},
		{"A changed object is recorded.", func() *result { return do(t.Context(), t, apply, with(thing(ns, "one", "{size: large}"), "")) },
			[]string{strings.Replace("cluster.apply"+target("update] <nil>"), "kind:", "fields:spec.size kind:", 1)}},
		{"Two objects give two records.", func() *result {
			return do(t.Context(), t, apply, with(thing(ns, "one", "{size: large}")+"---\n"+thing(ns, "two", "{size: large}"), ""))
		}, []string{"cluster.apply" + target("update] <nil>"), strings.Replace("cluster.apply"+target("create] <nil>"), "name:one", "name:two", 1)}},
		{"An object that is not valid is recorded as refused.", func() *result {
			return do(t.Context(), t, apply, with(thing(ns, "two", "{size: large}")+"---\n"+thing(ns, "one", "{size: hunter2}"), ""))
		}, []string{"cluster.apply" + target("] invalid")}},
		{"A missing permission to write is recorded.", func() *result {
			return do(t.Context(), t, reads[0], with(thing(ns, "one", "{size: small}"), ""))
		}, []string{"cluster.apply" + target("] forbidden")}},
		{"A missing permission to delete is recorded.", func() *result { return do(t.Context(), t, reads[1], one+"}") },
			[]string{"cluster.delete" + target("] forbidden")}},
		{"An object that the portal did not make is recorded as foreign.", func() *result {
			return do(t.Context(), t, remove, "{apiVersion: v1, kind: Namespace, name: "+ns+"}")
		}, []string{"cluster.delete map[apiVersion:v1 cluster:real kind:Namespace name:" + ns + " namespace: operation:] foreign"}},
		{"A dry run of a deletion writes no record.", func() *result { return do(t.Context(), t, remove, one+", dryRun: true}") }, nil},
		{"A deleted object is recorded.", func() *result { return do(t.Context(), t, remove, one+", wait: 30s}") },
			[]string{"cluster.delete" + target("] <nil>")}},
		{"Deleting a missing object writes no record.", func() *result { return do(t.Context(), t, remove, one+"}") }, nil},
	}
	for _, step := range steps {
		r := step.run()
		if diff := cmp.Diff(step.want, r.audit); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", step.reason, diff, r.message())
		}
	}
}
