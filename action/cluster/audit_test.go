package cluster_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	actions "example.dev/ingestor/action/cluster"
)

// TestAudit wants each write to be recorded with its target and its outcome, and
// nothing that was only tried out. What a manifest says is in none of it.
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
		{"a dry run writes nothing", func() *result {
			return do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "dryRun: true\n"))
		}, nil},
		{"it is made", func() *result { return do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "")) },
			[]string{"cluster.apply" + target("create] <nil>")}},
		{"and changed", func() *result { return do(t.Context(), t, apply, with(thing(ns, "one", "{size: large}"), "")) },
			[]string{"cluster.apply" + target("update] <nil>")}},
		{"two are two", func() *result {
			return do(t.Context(), t, apply, with(thing(ns, "one", "{size: large}")+"---\n"+thing(ns, "two", "{size: large}"), ""))
		}, []string{"cluster.apply" + target("update] <nil>"), strings.Replace("cluster.apply"+target("create] <nil>"), "name:one", "name:two", 1)}},
		{"what does not fit is refused", func() *result {
			return do(t.Context(), t, apply, with(thing(ns, "two", "{size: large}")+"---\n"+thing(ns, "one", "{size: hunter2}"), ""))
		}, []string{"cluster.apply" + target("] invalid")}},
		{"so is an account without the right to write", func() *result {
			return do(t.Context(), t, reads[0], with(thing(ns, "one", "{size: small}"), ""))
		}, []string{"cluster.apply" + target("] forbidden")}},
		{"or to delete", func() *result { return do(t.Context(), t, reads[1], one+"}") },
			[]string{"cluster.delete" + target("] forbidden")}},
		{"what is not the portal's stays", func() *result {
			return do(t.Context(), t, remove, "{apiVersion: v1, kind: Namespace, name: "+ns+"}")
		}, []string{"cluster.delete map[apiVersion:v1 cluster:real kind:Namespace name:" + ns + " namespace: operation:] foreign"}},
		{"a dry run deletes nothing", func() *result { return do(t.Context(), t, remove, one+", dryRun: true}") }, nil},
		{"it is deleted", func() *result { return do(t.Context(), t, remove, one+", wait: 30s}") },
			[]string{"cluster.delete" + target("] <nil>")}},
		{"there is nothing to delete", func() *result { return do(t.Context(), t, remove, one+"}") }, nil},
	}
	for _, step := range steps {
		r := step.run()
		if diff := cmp.Diff(step.want, r.audit); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", step.reason, diff, r.message())
		}
	}
}
