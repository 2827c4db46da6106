package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// TestApply checks the life cycle of an object: created, left unchanged, changed,
// deleted.
func TestApply(t *testing.T) {
	ns := namespace(t)
	all := actions.Actions(fleet(t), actions.Options{})
	apply, remove := all[0], all[1]
	spec := func(n *tree.Node) string { return string(tree.AppendJSON(nil, n.Get("spec"), "")) }
	path := fmt.Sprintf(things, ns, "one")

	for _, step := range []struct{ reason, spec, want, log string }{
		{"The object is created.", "{size: small, count: 2}", `{"count":2,"size":"small","tier":"bronze"}`, "was created"},
		{"A second run changes nothing.", "{size: small, count: 2}", `{"count":2,"size":"small","tier":"bronze"}`, "was left unchanged"},
		{"A field that was removed from the manifest is removed from the object.", "{size: large}", `{"size":"large","tier":"bronze"}`, "was changed"},
	} {
		r := do(t.Context(), t, apply, with(thing(ns, "one", step.spec), ""))
		if r.err != nil {
			t.Fatalf("%s: %s", step.reason, r.message())
		}
		got := find(t, path)
		if diff := cmp.Diff(step.want, spec(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
		if !strings.HasSuffix(r.lines(), step.log) {
			t.Errorf("%s: log is %q", step.reason, r.lines())
		}
		want := tree.Arr(tree.Obj(
			tree.F("apiVersion", tree.Str("test.example.org/v1")), tree.F("kind", tree.Str("Thing")), tree.F("namespace", tree.Str(ns)),
			tree.F("name", tree.Str("one")), tree.F("uid", got.Get("metadata", "uid")), tree.F("cluster", tree.Str("real")),
		))
		if diff := cmp.Diff(want, r.outputs["resources"]); diff != "" {
			t.Errorf("%s: resources (-want +got):\n%s", step.reason, diff)
		}
	}

	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s", ns)
	for _, step := range []struct {
		reason, input string
		there         bool
		log           string
	}{
		{"A dry run deletes nothing.", in + ", dryRun: true}", true, "would be deleted"},
		{"The object is deleted, and the step waits for it.", in + ", wait: 30s}", false, "is gone"},
		{"A second run finds nothing to delete.", in + "}", false, "is not in cluster real"},
	} {
		r := do(t.Context(), t, remove, step.input)
		if r.err != nil {
			t.Fatalf("%s: %s", step.reason, r.message())
		}
		if there := find(t, path) != nil; there != step.there || !strings.HasSuffix(r.lines(), step.log) {
			t.Errorf("%s: object exists: %v; log is %q", step.reason, there, r.lines())
		}
	}
	r := do(t.Context(), t, remove, in+", mustExist: true}")
	if want := fmt.Sprintf("cluster \"real\": cannot delete Thing %s/one: not found\ncheck its name and namespace", ns); r.message() != want {
		t.Errorf("delete of a missing object with mustExist returned %s", r.message())
	}
}

// TestExamples applies resources of the example definitions, one of each type.
func TestExamples(t *testing.T) {
	ns := namespace(t)
	cases := map[string]struct{ reason, manifest, path string }{
		"Claim": {"A claim of a v1 definition can be applied.", `{apiVersion: platform.example.org/v1alpha1, kind: Database, metadata: {name: one, namespace: NS},
			spec: {parameters: {engine: mysql, storageGB: 30, highlyAvailable: true, backup: {schedule: 0 4 * * *, retentionDays: 0}, allowedCIDRs: [10.0.0.0/8]}, compositionRef: {name: database-mysql}}}`,
			"/apis/platform.example.org/v1alpha1/namespaces/NS/databases/one"},
		"Composite": {"A composite of a v1 definition is cluster-scoped.", `{apiVersion: platform.example.org/v1alpha1, kind: XDatabase, metadata: {name: one-NS},
			spec: {parameters: {engine: mysql, storageGB: 30, highlyAvailable: true}}}`,
			"/apis/platform.example.org/v1alpha1/xdatabases/one-NS"},
		"Tenant": {"A resource of a v1 definition without a claim can be applied.", `{apiVersion: iam.example.org/v1, kind: XTenant, metadata: {name: one-NS}, spec: {quota: {cpu: 1, memoryGiB: 2}, admins: []}}`,
			"/apis/iam.example.org/v1/xtenants/one-NS"},
		"Cluster": {"A cluster-scoped resource of a v2 definition can be applied.", `{apiVersion: net.example.org/v1beta1, kind: Network, metadata: {name: one-NS}, spec: {cidr: 10.0.0.0/8, enableIPv6: true, subnets: [{name: a, cidr: 10.1.0.0/16}]}}`,
			"/apis/net.example.org/v1beta1/networks/one-NS"},
		"Namespaced": {"a v2 definition", `{apiVersion: test.example.org/v1, kind: Thing, metadata: {name: two, namespace: NS}, spec: {size: large, tier: gold, free: {a: {b: [1, "", false, 0]}}}}`,
			"/apis/test.example.org/v1/namespaces/NS/things/two"},
		"Kind of the server": {"A built-in kind can be applied.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: NS}, data: {a: b}}`,
			"/api/v1/namespaces/NS/configmaps/two"},
	}
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			manifest := strings.ReplaceAll(strings.ReplaceAll(tc.manifest, "NS", ns), "\t", "")
			r := do(t.Context(), t, apply, "manifest: "+manifest)
			if r.err != nil {
				t.Fatal(r.message())
			}
			got := find(t, strings.ReplaceAll(tc.path, "NS", ns))
			docs, _ := parser.DecodeBytes([]byte(manifest))
			for _, part := range []string{"spec", "data"} {
				if diff := cmp.Diff(docs[0].Get(part), got.Get(part)); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tc.reason, part, diff)
				}
			}
		})
	}
}

// TestSeveral checks that several documents are applied together, and none if
// one of them is refused.
func TestSeveral(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	good := thing(ns, "good", "{size: small}")
	r := do(t.Context(), t, apply, with(good+"---\n"+thing(ns, "immutable", "{size: small, fixed: a}"), ""))
	if r.err != nil {
		t.Fatal(r.message())
	}
	// Only the server knows that the second document is not valid.
	r = do(t.Context(), t, apply, with(thing(ns, "new", "{size: small}")+"---\n"+thing(ns, "immutable", "{size: small, fixed: b}"), ""))
	if want := `spec.fixed (What stays): Invalid value: "b": it stays as it is`; !strings.Contains(r.message(), want) {
		t.Errorf("apply of a document that is not valid returned %s", r.message())
	}
	if n := find(t, fmt.Sprintf(things, ns, "new")); n != nil {
		t.Error("first document was applied although the second was refused")
	}

	inside := ns + "-inside"
	list := fmt.Sprintf("{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %[1]s}}]}", inside)
	for _, verb := range []string{"would be", "was"} {
		r := do(t.Context(), t, apply, fmt.Sprintf("{manifest: %s, dryRun: %v}", list, verb == "would be"))
		if r.err != nil || !strings.Contains(r.lines(), "Namespace "+inside+" in cluster real "+verb+" created") {
			t.Fatalf("apply of a namespace together with an object in it: %s\n%s", r.message(), r.lines())
		}
		if there := find(t, "/api/v1/namespaces/"+inside+"/configmaps/a") != nil; there != (verb == "was") {
			t.Errorf("it %s applied: %v", verb, there)
		}
	}
}

// TestPasted checks that a manifest copied out of a cluster can be applied.
func TestPasted(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{Namespace: ns})[0]
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "")); r.err != nil {
		t.Fatal(r.message())
	}
	n := find(t, fmt.Sprintf(things, ns, "one")).Clone()
	n.Get("metadata").Delete("namespace")
	n.Set("status", tree.Obj(tree.F("conditions", tree.Arr())))
	n.Get("spec").Set("size", tree.Str("large"))
	r := do(t.Context(), t, apply, string(tree.AppendYAML(nil, tree.Obj(tree.F("manifest", n)))))
	if r.err != nil {
		t.Fatal(r.message())
	}
	if got := find(t, fmt.Sprintf(things, ns, "one")).Get("spec", "size").Str(); got != "large" {
		t.Errorf("size is %q", got)
	}
	want := "apiVersion: test.example.org/v1\nkind: Thing\nmetadata:\n  name: one\n  namespace: " + ns + "\nspec:\n  size: large\n  tier: bronze\n"
	if diff := cmp.Diff(want, r.outputs["manifest"].Str()); diff != "" {
		t.Errorf("output manifest differs from the applied one (-want +got):\n%s", diff)
	}
}
