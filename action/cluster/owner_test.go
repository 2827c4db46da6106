package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/source/cluster"
)

// TestConflict changes what the portal has made, as somebody else.
func TestConflict(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 1, tier: gold}"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	set(t, path, "somebody", `{"spec":{"count":5,"size":"large","host":"kept"}}`)
	r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 1, tier: silver}"), ""))
	want := fmt.Sprintf(`cluster "real": cannot apply Thing %s/one: spec.count and spec.size are owned by "somebody"`, ns) +
		"\nleave the fields out, or set takeOver to true to make them the portal's; whoever else sets them may set them back"
	if r.message() != want || !isReason(r.err, actions.Conflict) {
		t.Errorf("the fields and their owner are told:\nwant %s\ngot  %s", want, r.message())
	}
	if got := find(t, path).Get("spec", "tier").Str(); got != "gold" {
		t.Errorf("nothing is changed, but tier is %q", got)
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{tier: silver, size: large}"), "")); r.err != nil {
		t.Errorf("what they agree on is no conflict: %s", r.message())
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 1}"), "takeOver: true\n")); r.err != nil {
		t.Errorf("it takes over when told: %s", r.message())
	}
	spec := find(t, path).Get("spec")
	if spec.Get("size").Str() != "small" || spec.Get("host").Str() != "kept" {
		t.Errorf("what it does not name is left alone: %v", spec.Any())
	}
}

// TestForeign meets objects that the portal has not made.
func TestForeign(t *testing.T) {
	ns, s := namespace(t), server(t)
	all := actions.Actions(fleet(t), actions.Options{})
	s.Apply(t, thing(ns, "one", "{size: small}"))
	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s", ns)

	// Nobody owns the field, so the server would see no conflict.
	r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small, count: 3}"), ""))
	if want := fmt.Sprintf(`cluster "real": cannot apply Thing %s/one: there is one already, and it was not made by the portal, but by "`, ns); !strings.HasPrefix(r.message(), want) || !isReason(r.err, actions.Foreign) {
		t.Errorf("it is somebody else's: %s", r.message())
	}
	r = do(t.Context(), t, all[1], in+"}")
	if want := fmt.Sprintf(`cluster "real": cannot delete Thing %s/one: it was not made by the portal, but by "`, ns); !strings.HasPrefix(r.message(), want) || !strings.HasSuffix(r.message(), "\nset takeOver to true to delete it all the same") {
		t.Errorf("nor is it deleted: %s", r.message())
	}
	if n := find(t, fmt.Sprintf(things, ns, "one")); n == nil || n.Get("spec").Has("count") {
		t.Fatal("it was touched")
	}
	if r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small, count: 3}"), "takeOver: true\n")); r.err != nil {
		t.Errorf("unless it is told: %s", r.message())
	}
	if r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small, count: 4}"), "")); r.err != nil {
		t.Errorf("from then on it is the portal's: %s", r.message())
	}
	if r := do(t.Context(), t, all[1], in+", propagation: foreground}"); r.err != nil {
		t.Errorf("and can be deleted: %s", r.message())
	}
	eventually(t, "it is gone", func() bool { return find(t, fmt.Sprintf(things, ns, "one")) == nil })
	s.Apply(t, thing(ns, "two", "{size: small}"))
	if r := do(t.Context(), t, all[1], strings.Replace(in, "one", "two", 1)+", takeOver: true}"); r.err != nil {
		t.Errorf("somebody else's is deleted when told: %s", r.message())
	}

	owned := func(owner, size string) string {
		return strings.Replace(thing(ns, "three", "{size: "+size+"}"), "metadata: {", "metadata: {annotations: {"+owner+"}, ", 1)
	}
	if r := do(t.Context(), t, all[0], with(owned("portal.io/owner: team-a", "small"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	if r := do(t.Context(), t, all[0], with(owned("backstage.io/owner: team-a", "large"), "")); r.err != nil {
		t.Errorf("one owner under two words is one: %s", r.message())
	}
	r = do(t.Context(), t, all[0], with(owned("backstage.io/owner: team-b", "small"), ""))
	if want := "there is one already, and it belongs to team-a\nchoose another name, or set takeOver to true to give it to team-b"; !strings.HasSuffix(r.message(), want) {
		t.Errorf("two teams do not share a name by accident: %s", r.message())
	}
	r = do(t.Context(), t, all[0], with(thing(ns, "three", "{size: small}"), ""))
	if want := "there is one already, and it belongs to team-a\nchoose another name, or name its owner if it is meant"; !strings.HasSuffix(r.message(), want) {
		t.Errorf("nor does somebody who names no team: %s", r.message())
	}
}

// TestPermissions applies with accounts that may do too little; what the hint
// says is enough.
func TestPermissions(t *testing.T) {
	ns := namespace(t)
	manifest := with(thing(ns, "one", "{size: small}"), "")
	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s}", ns)

	none := actions.Actions(account(t, "none", ""), actions.Options{})
	r := do(t.Context(), t, none[0], manifest)
	e, ok := errors.AsType[*cluster.Error](r.err)
	if !ok || e.Reason != cluster.Forbidden || !strings.Contains(r.message(), "cannot apply Thing "+ns+"/one") || !strings.Contains(r.message(), "add this rule to its ClusterRole:\n- apiGroups: [\"test.example.org\"]") {
		t.Fatalf("the rule is told: %s", r.message())
	}
	read := actions.Actions(account(t, "read", `[{apiGroups: [test.example.org], resources: [things], verbs: [get]}]`), actions.Options{})
	r = do(t.Context(), t, read[0], manifest)
	e, ok = errors.AsType[*cluster.Error](r.err)
	if want := `verbs: ["get", "create", "patch"]`; !ok || e.Reason != cluster.Forbidden || !strings.Contains(r.message(), want) {
		t.Fatalf("so are the others: %s", r.message())
	}
	enough := actions.Actions(account(t, "enough", "\n"+e.Missing.YAML()), actions.Options{})
	if r := do(t.Context(), t, enough[0], manifest); r.err != nil {
		t.Fatalf("what the hint says is enough: %s", r.message())
	}
	r = do(t.Context(), t, enough[1], in)
	e, ok = errors.AsType[*cluster.Error](r.err)
	if !ok || e.Reason != cluster.Forbidden || !strings.Contains(r.message(), `verbs: ["get", "delete"]`) {
		t.Fatalf("to delete takes another: %s", r.message())
	}
	deletes := actions.Actions(account(t, "delete", "\n"+e.Missing.YAML()), actions.Options{})
	if r := do(t.Context(), t, deletes[1], in); r.err != nil {
		t.Fatalf("and that is enough: %s", r.message())
	}
}

func isReason(err error, reason cluster.Reason) bool {
	e, ok := errors.AsType[*cluster.Error](err)
	return ok && e.Reason == reason
}
