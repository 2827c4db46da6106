package cluster_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// TestUpdate changes what is there, with forms that were filled from it and with
// such that were not.
func TestUpdate(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	const made = "{size: small, count: 2, tags: [a, b], labels: {a: b}, rules: [{name: x, weight: 1}], fixed: a}"
	observed := func() string { return xrd.Observed(find(t, path)) }

	r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "update: true\n"))
	want := fmt.Sprintf("cluster \"real\": cannot apply Thing %s/one: there is none to update\ncheck its name, namespace and cluster, or create it first", ns)
	if r.message() != want || !isReason(r.err, actions.Missing) {
		t.Fatalf("it must be there: %s", r.message())
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", made), "")); r.err != nil {
		t.Fatal(r.message())
	}
	set(t, path, "somebody", `{"spec":{"host":"kept","labels":{"c":"d"}}}`)

	for _, step := range []struct{ reason, spec, more, want, log string }{
		{"what it leaves out stays, required or not", "{count: 3}", "update: true\n",
			`{"count":3,"fixed":"a","host":"kept","labels":{"a":"b","c":"d"},"rules":[{"name":"x","weight":1}],"size":"small","tags":["a","b"],"tier":"bronze"}`, "was changed"},
		{"so it does a second time", "{count: 3}", "update: true\n",
			`{"count":3,"fixed":"a","host":"kept","labels":{"a":"b","c":"d"},"rules":[{"name":"x","weight":1}],"size":"small","tags":["a","b"],"tier":"bronze"}`, "was left as it is"},
		{"a list is one value, a map is not", "{tags: [c], labels: {e: f}}", "update: true\n",
			`{"count":3,"fixed":"a","host":"kept","labels":{"a":"b","c":"d","e":"f"},"rules":[{"name":"x","weight":1}],"size":"small","tags":["c"],"tier":"bronze"}`, "was changed"},
		{"an update with an observed state removes fields; fields of other managers stay", "{size: large, fixed: a}", "update: true\nobserved: NOW\n",
			`{"fixed":"a","host":"kept","labels":{"c":"d"},"size":"large","tier":"bronze"}`, "was changed"},
		{"nothing to do is done", "{}", "update: true\n", `{"fixed":"a","host":"kept","labels":{"c":"d"},"size":"large","tier":"bronze"}`, "was left as it is"},
	} {
		r := do(t.Context(), t, apply, with(thing(ns, "one", step.spec), strings.Replace(step.more, "NOW", observed(), 1)))
		if r.err != nil {
			t.Fatalf("%s: %s", step.reason, r.message())
		}
		if diff := cmp.Diff(step.want, string(tree.AppendJSON(nil, find(t, path).Get("spec"), ""))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
		if !strings.HasSuffix(r.lines(), step.log) {
			t.Errorf("%s: the log says %q", step.reason, r.lines())
		}
	}
}

// TestUpdateRefused updates what must not be updated like that.
func TestUpdateRefused(t *testing.T) {
	ns, s := namespace(t), server(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, fixed: a}"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	seen := xrd.Observed(find(t, path))
	input := func(size string) string {
		return with(thing(ns, "one", "{fixed: a, size: "+size+"}"), "update: true\nobserved: "+seen+"\n")
	}
	if r := do(t.Context(), t, apply, input("large")); r.err != nil {
		t.Fatal(r.message())
	}
	if r := do(t.Context(), t, apply, input("large")); r.err != nil || !strings.HasSuffix(r.lines(), "was left as it is") {
		t.Errorf("a step that is run again finds what it did: %s\n%s", r.message(), r.lines())
	}
	s.Apply(t, thing(ns, "foreign", "{size: small}"))
	cases := map[string]struct {
		reason, input, want string
	}{
		"Changed": {"it is another by now", input("small"),
			"cluster \"real\": cannot apply Thing NS/one: the object was changed after the form was filled: spec.size\nopen the form again to see the current values"},
		"Trial": {"a trial tells it too", input("small") + "dryRun: true\n", "the object was changed after the form was filled"},
		"Foreign": {"it was made elsewhere", with(thing(ns, "foreign", "{count: 3}"), "update: true\n"),
			"\nchange it where it was made, or set takeOver to true to change it all the same"},
		"Fixed": {"a field cannot be changed, and is named as the form does", with(thing(ns, "one", "{fixed: b}"), "update: true\n"),
			"cluster \"real\": cannot apply Thing NS/one: spec.fixed (What stays): Invalid value: \"b\": it stays as it is\ncorrect the fields it names"},
		"Schema": {"what it says is checked as ever", with(thing(ns, "one", "{size: huge}"), "update: true\n"),
			`spec.size (Size of it): it must be one of "small", "large", not "huge"`},
		"Several": {"what was observed is one object", with(thing(ns, "one", "{}")+"---\n"+thing(ns, "two", "{}"), "update: true\nobserved: a=b\n"),
			"cannot use observed: it is the state of one object, and the manifest has 2\nleave observed out, or make it several steps"},
		"Torn": {"what was observed cannot be read", with(thing(ns, "one", "{size: small}"), "update: true\nobserved: '%zz'\n"),
			"cannot use observed: cannot read the observed state: invalid URL escape \"%zz\"\nopen the form again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := do(t.Context(), t, apply, tc.input).message()
			if want := strings.ReplaceAll(tc.want, "NS", ns); !strings.Contains(got, want) {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, want, got)
			}
		})
	}
	if got := find(t, path).Get("spec", "size").Str(); got != "large" {
		t.Errorf("nothing is changed, but size is %q", got)
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "foreign", "{count: 3}"), "update: true\ntakeOver: true\n")); r.err != nil {
		t.Errorf("unless it is told to take over: %s", r.message())
	}
	owned := func(team string) string {
		return strings.Replace(thing(ns, "one", "{}"), "metadata: {", "metadata: {annotations: {portal.io/owner: "+team+"}, ", 1)
	}
	for _, team := range []string{"team-a", "team-b"} {
		if r := do(t.Context(), t, apply, with(owned(team), "update: true\n")); r.err != nil {
			t.Errorf("an update may give it to %s: %s", team, r.message())
		}
	}
}

// TestUpdateBesideCrossplane fills a form. Before it is submitted, Crossplane moves
// the resource to another revision, which increments its generation: no conflict.
// A changed field of the form is a conflict.
func TestUpdateBesideCrossplane(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	before := find(t, path)
	seen := xrd.Observed(before)
	set(t, path, "crossplane", `{"spec":{"crossplane":{"compositionRef":{"name":"a"},"compositionRevisionRef":{"name":"a-2"},"resourceRefs":[]}}}`)
	if now := find(t, path).Get("metadata", "generation"); now.Equal(before.Get("metadata", "generation")) {
		t.Fatal("the generation is the same")
	}
	update := func(spec string) *result {
		return do(t.Context(), t, apply, with(thing(ns, "one", spec), "update: true\nobserved: "+seen+"\n"))
	}
	if r := update("{size: large}"); r.err != nil {
		t.Fatalf("fields that Crossplane wrote conflict with the update: %s", r.message())
	}
	now := find(t, path)
	if now.Get("spec", "size").Str() != "large" || now.Get("spec", "crossplane", "compositionRevisionRef", "name").Str() != "a-2" {
		t.Errorf("the spec after the update is %s", tree.AppendJSON(nil, now.Get("spec"), ""))
	}
	seen = xrd.Observed(now)
	set(t, path, "kubectl", `{"spec":{"count":2,"host":"b"}}`)
	if r := update("{size: small}"); !isReason(r.err, actions.Conflict) || !strings.Contains(r.message(), "changed after the form was filled: spec.count and spec.host") {
		t.Errorf("an update over fields that kubectl changed has no conflict: %s", r.message())
	}
}

// TestUpdateAtOnce has many update one object at once, each another field: none
// undoes what another did.
func TestUpdateAtOnce(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	var wg sync.WaitGroup
	const all = 4
	for i := range all {
		wg.Go(func() {
			if r := do(t.Context(), t, apply, with(thing(ns, "one", fmt.Sprintf("{labels: {k%d: v}}", i)), "update: true\n")); r.err != nil {
				t.Error(r.message())
			}
		})
	}
	wg.Wait()
	if got := find(t, fmt.Sprintf(things, ns, "one")).Get("spec", "labels"); got.Len() != all {
		t.Errorf("some are lost: %v", got.Any())
	}
}

// TestEmptied takes everything out of a map, in an update and in another apply:
// a server by itself would make null of it.
func TestEmptied(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	for _, more := range []string{"update: true\nobserved: NOW\n", ""} {
		if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, labels: {a: b}}"), "")); r.err != nil {
			t.Fatal(r.message())
		}
		more = strings.Replace(more, "NOW", xrd.Observed(find(t, path)), 1)
		if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, labels: {}}"), more)); r.err != nil {
			t.Errorf("%q: %s", more, r.message())
		}
		if got := find(t, path).Get("spec", "labels"); got.Len() > 0 {
			t.Errorf("%q: there is still %s", more, tree.AppendJSON(nil, got, ""))
		}
	}
}

// TestCompare shows whoever tries something out what would become different, and
// nothing of what others have made.
func TestCompare(t *testing.T) {
	ns, s := namespace(t), server(t)
	all := actions.Actions(fleet(t), actions.Options{})
	apply, remove := all[0], all[1]
	text := func(name, spec string) []byte {
		return fmt.Appendf(nil, "apiVersion: test.example.org/v1\nkind: Thing\nmetadata:\n  name: %s\n  namespace: %s\nspec:\n%s", name, ns, spec)
	}
	one := func(spec string) []byte { return text("one", spec) }
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 2}"), "")); r.err != nil || len(r.changes) != 0 {
		t.Fatalf("nothing is only tried out: %s, %v", r.message(), r.changes)
	}
	s.Apply(t, thing(ns, "foreign", "{size: small}"))
	const small = "  count: 2\n  size: small\n  tier: bronze\n"
	cases := map[string]struct {
		reason string
		action action.Action
		input  string
		want   []action.Change
	}{
		"New": {"there is nothing before it; what the server fills in is shown", apply, with(thing(ns, "two", "{size: small}"), "dryRun: true\n"),
			[]action.Change{{Name: "Thing " + ns + "/two", After: text("two", "  size: small\n  tier: bronze\n")}}},
		"Changed": {"as it is, and as it would be", apply, with(thing(ns, "one", "{count: 3}"), "update: true\ndryRun: true\n"),
			[]action.Change{{Name: "Thing " + ns + "/one", Before: one(small), After: one("  count: 3\n  size: small\n  tier: bronze\n")}}},
		"Same": {"nothing to show", apply, with(thing(ns, "one", "{count: 2}"), "update: true\ndryRun: true\n"), nil},
		"Gone": {"there is nothing after it", remove, "{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: " + ns + ", dryRun: true}",
			[]action.Change{{Name: "Thing " + ns + "/one", Before: one(small)}}},
		"Foreign": {"it is marked as somebody else's", apply, with(thing(ns, "foreign", "{size: large}"), "takeOver: true\ndryRun: true\n"),
			[]action.Change{{Name: "Thing " + ns + "/foreign", Before: text("foreign", "  size: small\n  tier: bronze\n"),
				After: text("foreign", "  size: large\n  tier: bronze\n"), Hidden: action.HiddenForeign}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for i := range tc.want {
				tc.want[i].Where = "cluster real"
			}
			r := do(t.Context(), t, tc.action, tc.input)
			if diff := cmp.Diff(tc.want, r.changes); diff != "" || r.err != nil {
				t.Errorf("%s: %s (-want +got):\n%s", tc.reason, r.message(), diff)
			}
		})
	}
}
