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

// TestUpdate changes an object with and without the state that the form was
// filled from.
func TestUpdate(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	path := fmt.Sprintf(things, ns, "one")
	const made = "{size: small, count: 2, tags: [a, b], labels: {a: b}, rules: [{name: x, weight: 1}], fixed: a}"
	observed := func() string { return xrd.Observed(find(t, path)) }

	r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "update: true\n"))
	want := fmt.Sprintf("cluster \"real\": cannot apply Thing %s/one: not found\ncheck its name, namespace and cluster, or create it first", ns)
	if r.message() != want || !isReason(r.err, actions.Missing) {
		t.Fatalf("update of a missing object returned %s", r.message())
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", made), "")); r.err != nil {
		t.Fatal(r.message())
	}
	set(t, path, "another", `{"spec":{"host":"kept","labels":{"c":"d"}}}`)

	for _, step := range []struct{ reason, spec, more, want, log string }{
		{"Fields that the manifest omits are kept, required or not.", "{count: 3}", "update: true\n",
			`{"count":3,"fixed":"a","host":"kept","labels":{"a":"b","c":"d"},"rules":[{"name":"x","weight":1}],"size":"small","tags":["a","b"],"tier":"bronze"}`, "was changed"},
		{"The same update a second time keeps them too.", "{count: 3}", "update: true\n",
			`{"count":3,"fixed":"a","host":"kept","labels":{"a":"b","c":"d"},"rules":[{"name":"x","weight":1}],"size":"small","tags":["a","b"],"tier":"bronze"}`, "was left unchanged"},
		{"A list is replaced, a map is merged.", "{tags: [c], labels: {e: f}}", "update: true\n",
			`{"count":3,"fixed":"a","host":"kept","labels":{"a":"b","c":"d","e":"f"},"rules":[{"name":"x","weight":1}],"size":"small","tags":["c"],"tier":"bronze"}`, "was changed"},
		{"An update with an observed state removes fields; fields of other managers stay.", "{size: large, fixed: a}", "update: true\nobserved: NOW\n",
			`{"fixed":"a","host":"kept","labels":{"c":"d"},"size":"large","tier":"bronze"}`, "was changed"},
		{"An empty update changes nothing.", "{}", "update: true\n", `{"fixed":"a","host":"kept","labels":{"c":"d"},"size":"large","tier":"bronze"}`, "was left unchanged"},
	} {
		r := do(t.Context(), t, apply, with(thing(ns, "one", step.spec), strings.Replace(step.more, "NOW", observed(), 1)))
		if r.err != nil {
			t.Fatalf("%s: %s", step.reason, r.message())
		}
		if diff := cmp.Diff(step.want, string(tree.AppendJSON(nil, find(t, path).Get("spec"), ""))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
		if !strings.HasSuffix(r.lines(), step.log) {
			t.Errorf("%s: log is %q", step.reason, r.lines())
		}
	}
}

// TestUpdateRefused checks updates that are refused.
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
	if r := do(t.Context(), t, apply, input("large")); r.err != nil || !strings.HasSuffix(r.lines(), "was left unchanged") {
		t.Errorf("second run of the same update: %s\n%s", r.message(), r.lines())
	}
	s.Apply(t, thing(ns, "foreign", "{size: small}"))
	cases := map[string]struct {
		reason, input, want string
	}{
		"Changed": {"A change since the form was filled is a conflict.", input("small"),
			"cluster \"real\": cannot apply Thing NS/one: the object was changed after the form was filled: spec.size\nopen the form again to see the current values"},
		"Trial": {"A dry run reports the conflict too.", input("small") + "dryRun: true\n", "the object was changed after the form was filled"},
		"Foreign": {"An object that the portal did not make is not updated.", with(thing(ns, "foreign", "{count: 3}"), "update: true\n"),
			"\nchange it at its source, or set takeOver to true to change it anyway"},
		"Fixed": {"An immutable field is named by its title in the form.", with(thing(ns, "one", "{fixed: b}"), "update: true\n"),
			"cluster \"real\": cannot apply Thing NS/one: spec.fixed (What stays): Invalid value: \"b\": it stays as it is\ncorrect the listed fields"},
		"Schema": {"Values are validated with the schema.", with(thing(ns, "one", "{size: huge}"), "update: true\n"),
			`spec.size (Size of it): must be one of "small", "large", not "huge"`},
		"Several": {"An observed state is of one object.", with(thing(ns, "one", "{}")+"---\n"+thing(ns, "two", "{}"), "update: true\nobserved: a=b\n"),
			"cannot use observed: requires a manifest with one object, not 2\nremove observed, or use several steps"},
		"Torn": {"An observed state that cannot be parsed is refused.", with(thing(ns, "one", "{size: small}"), "update: true\nobserved: '%zz'\n"),
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
		t.Errorf("size is %q after a refused update, want it unchanged", got)
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "foreign", "{count: 3}"), "update: true\ntakeOver: true\n")); r.err != nil {
		t.Errorf("update with takeOver: %s", r.message())
	}
	owned := func(team string) string {
		return strings.Replace(thing(ns, "one", "{}"), "metadata: {", "metadata: {annotations: {portal.io/owner: "+team+"}, ", 1)
	}
	for _, team := range []string{"team-a", "team-b"} {
		if r := do(t.Context(), t, apply, with(owned(team), "update: true\n")); r.err != nil {
			t.Errorf("update with owner %s: %s", team, r.message())
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
		t.Fatal("generation did not change")
	}
	update := func(spec string) *result {
		return do(t.Context(), t, apply, with(thing(ns, "one", spec), "update: true\nobserved: "+seen+"\n"))
	}
	if r := update("{size: large}"); r.err != nil {
		t.Fatalf("update conflicts with fields that Crossplane wrote: %s", r.message())
	}
	now := find(t, path)
	if now.Get("spec", "size").Str() != "large" || now.Get("spec", "crossplane", "compositionRevisionRef", "name").Str() != "a-2" {
		t.Errorf("spec after the update is %s", tree.AppendJSON(nil, now.Get("spec"), ""))
	}
	seen = xrd.Observed(now)
	set(t, path, "kubectl", `{"spec":{"count":2,"host":"b"}}`)
	if r := update("{size: small}"); !isReason(r.err, actions.Conflict) || !strings.Contains(r.message(), "changed after the form was filled: spec.count and spec.host") {
		t.Errorf("update over fields that kubectl changed returned %s, want a conflict", r.message())
	}
}

// TestUpdateAtOnce checks concurrent updates of one object, each of another
// field: no update is lost.
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
		t.Errorf("updates were lost: %v", got.Any())
	}
}

// TestEmptied removes all keys of a map, with an update and with an apply: the
// server alone would store null.
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
			t.Errorf("%q: map is %s, want it removed", more, tree.AppendJSON(nil, got, ""))
		}
	}
}

// TestCompare checks that a dry run shows the fields that would change, and no
// fields of other owners.
func TestCompare(t *testing.T) {
	ns, s := namespace(t), server(t)
	all := actions.Actions(fleet(t), actions.Options{})
	apply, remove := all[0], all[1]
	text := func(name, spec string) []byte {
		return fmt.Appendf(nil, "apiVersion: test.example.org/v1\nkind: Thing\nmetadata:\n  name: %s\n  namespace: %s\nspec:\n%s", name, ns, spec)
	}
	one := func(spec string) []byte { return text("one", spec) }
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small, count: 2}"), "")); r.err != nil || len(r.changes) != 0 {
		t.Fatalf("apply without dryRun returned changes: %s, %v", r.message(), r.changes)
	}
	s.Apply(t, thing(ns, "foreign", "{size: small}"))
	const small = "  count: 2\n  size: small\n  tier: bronze\n"
	cases := map[string]struct {
		reason string
		action action.Action
		input  string
		want   []action.Change
	}{
		"New": {"A new object has no content before; defaults of the server are shown.", apply, with(thing(ns, "two", "{size: small}"), "dryRun: true\n"),
			[]action.Change{{Name: "Thing " + ns + "/two", After: text("two", "  size: small\n  tier: bronze\n")}}},
		"Changed": {"A changed object has its content before and after.", apply, with(thing(ns, "one", "{count: 3}"), "update: true\ndryRun: true\n"),
			[]action.Change{{Name: "Thing " + ns + "/one", Before: one(small), After: one("  count: 3\n  size: small\n  tier: bronze\n")}}},
		"Same": {"An unchanged object is not shown.", apply, with(thing(ns, "one", "{count: 2}"), "update: true\ndryRun: true\n"), nil},
		"Gone": {"A deleted object has no content after.", remove, "{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: " + ns + ", dryRun: true}",
			[]action.Change{{Name: "Thing " + ns + "/one", Before: one(small)}}},
		"Foreign": {"An object that takeOver would take from another owner is marked as foreign.", apply, with(thing(ns, "foreign", "{size: large}"), "takeOver: true\ndryRun: true\n"),
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
