package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/source/cluster"
)

// TestConflict checks the error for fields that another field manager has
// changed.
func TestConflict(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 1, tier: gold}"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	set(t, path, "another", `{"spec":{"count":5,"size":"large","host":"kept"}}`)
	r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 1, tier: silver}"), ""))
	want := fmt.Sprintf(`cluster "real": cannot apply Thing %s/one: spec.count and spec.size are owned by "another"`, ns) +
		"\nremove the fields, or set takeOver to true to own them; the other owner may set them back"
	if r.message() != want || !isReason(r.err, actions.Conflict) {
		t.Errorf("conflict error does not name the fields and their owner:\nwant %s\ngot  %s", want, r.message())
	}
	if got := find(t, path).Get("spec", "tier").Str(); got != "gold" {
		t.Errorf("tier is %q after a conflict, want it unchanged", got)
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{tier: silver, size: large}"), "")); r.err != nil {
		t.Errorf("apply with equal values was a conflict: %s", r.message())
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 1}"), "takeOver: true\n")); r.err != nil {
		t.Errorf("apply with takeOver: %s", r.message())
	}
	spec := find(t, path).Get("spec")
	if spec.Get("size").Str() != "small" || spec.Get("host").Str() != "kept" {
		t.Errorf("apply changed fields that the manifest does not name: %v", spec.Any())
	}
}

// TestForeign checks objects that the portal did not make.
func TestForeign(t *testing.T) {
	ns, s := namespace(t), server(t)
	all := actions.Actions(fleet(t), actions.Options{})
	s.Apply(t, thing(ns, "one", "{size: small}"))
	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s", ns)

	// The field has no owner, so the server would see no conflict.
	r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small, count: 3}"), ""))
	if want := fmt.Sprintf(`cluster "real": cannot apply Thing %s/one: object already exists, and was not created by the portal, but by "`, ns); !strings.HasPrefix(r.message(), want) || !isReason(r.err, actions.Foreign) {
		t.Errorf("object was not made by the portal, but apply returned: %s", r.message())
	}
	r = do(t.Context(), t, all[1], in+"}")
	if want := fmt.Sprintf(`cluster "real": cannot delete Thing %s/one: object was not created by the portal, but by "`, ns); !strings.HasPrefix(r.message(), want) || !strings.HasSuffix(r.message(), "\nset takeOver to true to delete it anyway") {
		t.Errorf("delete of an object that the portal did not make returned %s", r.message())
	}
	if n := find(t, fmt.Sprintf(things, ns, "one")); n == nil || n.Get("spec").Has("count") {
		t.Fatal("object that the portal did not make was changed")
	}
	if r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small, count: 3}"), "takeOver: true\n")); r.err != nil {
		t.Errorf("apply with takeOver: %s", r.message())
	}
	if r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small, count: 4}"), "")); r.err != nil {
		t.Errorf("apply after takeOver: %s", r.message())
	}
	if r := do(t.Context(), t, all[1], in+", propagation: foreground}"); r.err != nil {
		t.Errorf("delete after takeOver: %s", r.message())
	}
	eventually(t, "the object is deleted", func() bool { return find(t, fmt.Sprintf(things, ns, "one")) == nil })
	s.Apply(t, thing(ns, "two", "{size: small}"))
	if r := do(t.Context(), t, all[1], strings.Replace(in, "one", "two", 1)+", takeOver: true}"); r.err != nil {
		t.Errorf("delete with takeOver of an object that the portal did not make: %s", r.message())
	}

	owned := func(owner, size string) string {
		return strings.Replace(thing(ns, "three", "{size: "+size+"}"), "metadata: {", "metadata: {annotations: {"+owner+"}, ", 1)
	}
	if r := do(t.Context(), t, all[0], with(owned("portal.io/owner: team-a", "small"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	if r := do(t.Context(), t, all[0], with(owned("backstage.io/owner: team-a", "large"), "")); r.err != nil {
		t.Errorf("same owner in two vocabularies was refused: %s", r.message())
	}
	r = do(t.Context(), t, all[0], with(owned("backstage.io/owner: team-b", "small"), ""))
	if want := "object already exists and belongs to team-a\nchoose another name, or set takeOver to true to transfer it to team-b"; !strings.HasSuffix(r.message(), want) {
		t.Errorf("object of another team was not refused: %s", r.message())
	}
	r = do(t.Context(), t, all[0], with(thing(ns, "three", "{size: small}"), ""))
	if want := "object already exists and belongs to team-a\nchoose another name, or set the owner of the existing object"; !strings.HasSuffix(r.message(), want) {
		t.Errorf("apply without an owner to the object of a team returned: %s", r.message())
	}
}

// TestPermissions checks accounts with missing permissions, and that the rules
// in the hint are sufficient.
func TestPermissions(t *testing.T) {
	ns := namespace(t)
	manifest := with(thing(ns, "one", "{size: small}"), "")
	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s}", ns)

	none := actions.Actions(account(t, "none", ""), actions.Options{})
	r := do(t.Context(), t, none[0], manifest)
	e, ok := errors.AsType[*cluster.Error](r.err)
	if !ok || e.Reason != cluster.Forbidden || !strings.Contains(r.message(), "cannot apply Thing "+ns+"/one") || !strings.Contains(r.message(), "add this rule to its ClusterRole:\n- apiGroups: [\"test.example.org\"]") {
		t.Fatalf("error does not contain the missing rule: %s", r.message())
	}
	read := actions.Actions(account(t, "read", `[{apiGroups: [test.example.org], resources: [things], verbs: [get]}]`), actions.Options{})
	r = do(t.Context(), t, read[0], manifest)
	e, ok = errors.AsType[*cluster.Error](r.err)
	if want := `verbs: ["get", "create", "patch"]`; !ok || e.Reason != cluster.Forbidden || !strings.Contains(r.message(), want) {
		t.Fatalf("error does not contain all missing rules: %s", r.message())
	}
	enough := actions.Actions(account(t, "enough", "\n"+e.Missing.YAML()), actions.Options{})
	if r := do(t.Context(), t, enough[0], manifest); r.err != nil {
		t.Fatalf("rules of the hint are not sufficient for apply: %s", r.message())
	}
	r = do(t.Context(), t, enough[1], in)
	e, ok = errors.AsType[*cluster.Error](r.err)
	if !ok || e.Reason != cluster.Forbidden || !strings.Contains(r.message(), `verbs: ["get", "delete"]`) {
		t.Fatalf("error of delete does not contain the missing rule: %s", r.message())
	}
	deletes := actions.Actions(account(t, "delete", "\n"+e.Missing.YAML()), actions.Options{})
	if r := do(t.Context(), t, deletes[1], in); r.err != nil {
		t.Fatalf("rules of the hint are not sufficient for delete: %s", r.message())
	}
}

func isReason(err error, reason cluster.Reason) bool {
	e, ok := errors.AsType[*cluster.Error](err)
	return ok && e.Reason == reason
}
