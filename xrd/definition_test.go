package xrd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/words"
)

func TestCompareVersions(t *testing.T) {
	// The order of the Kubernetes documentation, and names that it does not
	// mention.
	want := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "", "1", "V1", "foo1", "foo10", "v", "v0", "v01", "v1alpha", "v1alpha0", "v1beta01", "v1gamma1", "v99999999999999999999", "valpha1"}
	for i, a := range want {
		for j, b := range want {
			got := CompareVersions(a, b)
			switch {
			case i < j && got <= 0, i == j && got != 0, i > j && got >= 0:
				t.Errorf("CompareVersions(%q, %q) is %d", a, b, got)
			}
		}
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b string) int { return CompareVersions(b, a) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want the highest version first: -want, +got:\n%s", diff)
	}
}

// view is a summary of a definition.
type view struct {
	Name, Scope, Target, Preferred, Served string
	Modern                                 bool
}

func viewOf(d *Definition) view {
	v := view{Name: d.Name, Scope: string(d.Scope), Modern: d.Modern()}
	t := d.Target()
	v.Target = t.Kind + "/" + t.Plural
	if t.Namespaced {
		v.Target += " namespaced"
	}
	if t.Claim {
		v.Target += " claim"
	}
	if p := d.Preferred(); p != nil {
		v.Preferred = p.Name
	}
	var served []string
	for _, s := range d.Served {
		served = append(served, s.Name)
	}
	v.Served = strings.Join(served, " ")
	return v
}

func TestDefinition(t *testing.T) {
	cases := map[string]struct {
		reason string
		api    string
		spec   string
		want   view
	}{
		"V1": {
			"v1 composites are cluster-scoped.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "XA/xas", Preferred: "v1", Served: "v1"},
		},
		"V1Claim": {
			"With claims, developers create claims.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, claimNames: {kind: A, plural: as}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "A/as namespaced claim", Preferred: "v1", Served: "v1"},
		},
		"V1ClaimPlural": {
			"A missing plural is derived from the kind.", "v1",
			"{group: x.io, names: {kind: XA}, claimNames: {kind: Thing}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "Thing/things namespaced claim", Preferred: "v1", Served: "v1"},
		},
		"V1beta1": {
			"v1beta1 works like v1.", "v1beta1",
			"{group: x.io, names: {kind: XA, plural: xas}, claimNames: {kind: A, plural: as}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "A/as namespaced claim", Preferred: "v1", Served: "v1"},
		},
		"V2": {
			"v2 is namespaced by default.", "v2",
			"{group: x.io, names: {kind: A, plural: as}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "Namespaced", Target: "A/as namespaced", Preferred: "v1", Served: "v1", Modern: true},
		},
		"V2Cluster": {
			"v2 can be cluster-scoped.", "v2",
			"{scope: Cluster, group: x.io, names: {kind: A, plural: as}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "Cluster", Target: "A/as", Preferred: "v1", Served: "v1", Modern: true},
		},
		"V2ClusterClaim": {
			"Only the legacy scope has claims.", "v2",
			"{scope: Cluster, group: x.io, names: {kind: A, plural: as}, claimNames: {kind: C, plural: cs}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "Cluster", Target: "A/as", Preferred: "v1", Served: "v1", Modern: true},
		},
		"V2Legacy": {
			"The legacy scope works like v1.", "v2",
			"{scope: LegacyCluster, group: x.io, names: {kind: XA, plural: xas}, claimNames: {kind: A, plural: as}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "A/as namespaced claim", Preferred: "v1", Served: "v1"},
		},
		"V1Scope": {
			"v1 may have a scope.", "v1",
			"{scope: Namespaced, group: x.io, names: {kind: A, plural: as}, versions: [{name: v1}]}",
			view{Name: "a", Scope: "Namespaced", Target: "A/as namespaced", Preferred: "v1", Served: "v1", Modern: true},
		},
		"Highest": {
			"Without a referenceable version the highest is preferred.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, versions: [{name: v1alpha1}, {name: v1}, {name: v2beta1}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "XA/xas", Preferred: "v1", Served: "v1 v2beta1 v1alpha1"},
		},
		"Referenceable": {
			"The referenceable version is preferred.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, versions: [{name: v1}, {name: v1alpha1, referenceable: true, served: true}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "XA/xas", Preferred: "v1alpha1", Served: "v1 v1alpha1"},
		},
		"Unserved": {
			"A referenceable version that is not served is not preferred.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, versions: [{name: v1, served: false, referenceable: true}, {name: v1alpha1, served: true}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "XA/xas", Preferred: "v1alpha1", Served: "v1alpha1"},
		},
		"NoneServed": {
			"Without a served version there is no preferred version.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, versions: [{name: v1, served: false}]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "XA/xas"},
		},
		"ServedText": {
			"A version is served if served is missing or exactly true.", "v1",
			"{group: x.io, names: {kind: XA, plural: xas}, versions: [{name: v1, served: \"true\"}, {name: v2, served: null}, {name: ''}, v3]}",
			view{Name: "a", Scope: "LegacyCluster", Target: "XA/xas", Preferred: "v2", Served: "v2"},
		},
		"WrongTypes": {
			"Fields of the wrong type are ignored.", "v2",
			"{scope: [], group: {}, names: [], claimNames: 5, versions: {a: b}, connectionSecretKeys: x}",
			view{Name: "a", Scope: "Namespaced", Target: "/ namespaced", Modern: true},
		},
		"NoSpec": {"A missing spec is accepted.", "v1", "null", view{Name: "a", Scope: "LegacyCluster", Target: "/"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, group := range []string{"apiextensions.composer.io", "apiextensions.crossplane.io"} {
				d := define(t, fmt.Sprintf("apiVersion: %s/%s\nkind: CompositeResourceDefinition\nmetadata: {name: a}\nspec: %s\n", group, tc.api, tc.spec), Origin{})
				if diff := cmp.Diff(tc.want, viewOf(d)); diff != "" {
					t.Errorf("%s\n%s: -want, +got:\n%s", tc.reason, group, diff)
				}
			}
		})
	}
}

func TestDefinitionName(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Given":   {"The name of the metadata is used.", "metadata: {name: a.b}\nspec: {group: x.io, names: {plural: xas}}", "a.b"},
		"Made":    {"A missing name is built from the plural and the group.", "spec: {group: x.io, names: {plural: xas}}", "xas.x.io"},
		"NoGroup": {"Both the plural and the group are needed.", "spec: {names: {plural: xas}}", ""},
		"Wrong":   {"A number is not a name.", "metadata: {name: 5}", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, "apiVersion: apiextensions.composer.io/v1\nkind: CompositeResourceDefinition\n"+tc.in, Origin{})
			if d.Name != tc.want {
				t.Errorf("%s\nname is %q, want %q", tc.reason, d.Name, tc.want)
			}
		})
	}
}

func TestDefinitionDetails(t *testing.T) {
	d := define(t, `
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: xas.x.io
  generation: 7
  labels: {terasky.backstage.io/generate-form: "true", n: 5}
  annotations: {backstage.io/kubernetes-id: c, portal.io/owner: own, backstage.io/owner: other}
spec:
  group: x.io
  names: {kind: XA, plural: xas, singular: xa}
  defaultCompositionRef: {name: d}
  enforcedCompositionRef: {name: e}
  defaultCompositionUpdatePolicy: Manual
  defaultCompositeDeletePolicy: Foreground
  connectionSecretKeys: [user, 5, password]
  versions:
    - name: v1
      deprecated: true
      deprecationWarning: use v2
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
    - name: v2
      schema: {openAPIV3Schema: {properties: {spec: none}}}
    - name: v3
      schema: {openAPIV3Schema: none}
`, Origin{Source: SourceCluster, Cluster: "c1", Location: "url:https://c1"})
	got := map[string]any{
		"apiVersion": d.APIVersion, "words": d.Words, "generation": d.Generation, "labels": d.Labels, "annotations": d.Annotations, "names": d.Names,
		"default": d.DefaultComposition, "enforced": d.EnforcedComposition, "update": d.DefaultUpdatePolicy, "delete": d.DefaultDeletePolicy, "keys": d.ConnectionSecretKeys,
		"deprecated": d.Versions[0].Deprecated, "warning": d.Versions[0].DeprecationWarning, "location": d.Origin.SourceLocation(), "group": d.Object.Group(),
		"specs": []bool{d.Versions[0].Spec() != nil, d.Versions[1].Spec() != nil, d.Versions[2].Spec() != nil}, "schemas": []bool{d.Versions[1].Schema != nil, d.Versions[2].Schema != nil},
		"line": d.Versions[0].Node.At().Line,
	}
	want := map[string]any{
		"apiVersion": words.DefinitionV1, "words": words.Upstream, "generation": int64(7),
		"labels":      map[string]string{"vendor.portal.io/generate-form": "true"},
		"annotations": map[string]string{"portal.io/cluster-id": "c", "portal.io/owner": "own"},
		"names":       Names{Kind: "XA", Plural: "xas", Singular: "xa"},
		"default":     "d", "enforced": "e", "update": "Manual", "delete": "Foreground", "keys": []string{"user", "password"},
		"deprecated": true, "warning": "use v2", "location": "url:https://c1", "group": "apiextensions.composer.io",
		"specs": []bool{true, false, false}, "schemas": []bool{true, false},
		"line": int32(18),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
