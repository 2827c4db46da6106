package xrd

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

// variant returns a definition named a.x.io that differs in the name of its
// version.
func variant(apiVersion, version string, generation int) string {
	return fmt.Sprintf(`
apiVersion: %s
kind: CompositeResourceDefinition
metadata: {name: a.x.io, generation: %d, resourceVersion: "%d"}
spec: {group: x.io, scope: Cluster, names: {kind: A, plural: a}, versions: [{name: %s}]}
`, apiVersion, generation, generation*100, version)
}

func TestMerge(t *testing.T) {
	const v1, v2, v1beta1 = "apiextensions.composer.io/v1", "apiextensions.crossplane.io/v2", "apiextensions.composer.io/v1beta1"
	in := func(text, file string) *Definition { return define(t, text, Origin{File: file}) }
	from := func(text, cluster string) *Definition {
		return define(t, text, Origin{Source: SourceCluster, Cluster: cluster})
	}
	cases := map[string]struct {
		reason   string
		in       []*Definition
		want     []string
		findings []string
	}{
		"Nothing": {"Without definitions the result is empty.", nil, nil, nil},
		"Names": {
			"Definitions with different names are kept and sorted.",
			[]*Definition{in(strings.ReplaceAll(variant(v1, "v1", 1), "a.x.io", "b.x.io"), "a.yaml"), in(variant(v1, "v1", 1), "b.yaml")},
			[]string{"a.x.io b.yaml v1", "b.x.io a.yaml v1"}, nil,
		},
		"Same": {
			"The same definition in two API versions is merged.",
			[]*Definition{in(variant(v1, "v1", 1), "b.yaml"), in(variant(v2, "v1", 1), "c.yaml")},
			[]string{"a.x.io c.yaml v1 also b.yaml"}, nil,
		},
		"SameClusters": {
			"The same definition in two clusters is merged.",
			[]*Definition{from(variant(v1, "v1", 3), "south"), from(variant(v1, "v1", 3), "north"), from(variant(v1, "v1", 1), "west")},
			[]string{"a.x.io north v1 also south west"}, nil,
		},
		"SameOtherwise": {
			"Fields that an API server or kubectl adds are ignored.",
			[]*Definition{
				in(variant(v1, "v1", 1), "a.yaml"),
				in(strings.NewReplacer("spec: {", "spec: {defaultCompositionUpdatePolicy: Automatic, defaultCompositeDeletePolicy: Background, ", "metadata: {",
					"status: {x: 1}\nmetadata: {uid: u, annotations: {kubectl.kubernetes.io/last-applied-configuration: x}, ").Replace(variant(v1, "v1", 1)), "b.yaml"),
			},
			[]string{"a.x.io a.yaml v1 also b.yaml"}, nil,
		},
		"Generation": {
			"The higher generation overrides everything else.",
			[]*Definition{in(variant(v2, "v1", 1), "a.yaml"), in(variant(v1beta1, "v2", 2), "b.yaml")},
			[]string{"a.x.io b.yaml v2 also a.yaml"},
			[]string{`a.yaml:2:1: duplicate definition "a.x.io" with different content; using the one at b.yaml:2, ignoring the one at a.yaml:2`},
		},
		"APIVersion": {
			"With equal generations the newer apiVersion is used.",
			[]*Definition{in(variant(v1beta1, "v1", 1), "a.yaml"), in(variant(v1, "v2", 1), "b.yaml"), in(variant(v2, "v3", 1), "c.yaml")},
			[]string{"a.x.io c.yaml v3 also b.yaml a.yaml"},
			[]string{
				`a.yaml:2:1: duplicate definition "a.x.io" with different content; using the one at c.yaml:2, ignoring the one at a.yaml:2`,
				`b.yaml:2:1: duplicate definition "a.x.io" with different content; using the one at c.yaml:2, ignoring the one at b.yaml:2`,
			},
		},
		"File": {
			"With equal versions the first file is used.",
			[]*Definition{in(variant(v1, "v1", 1), "b.yaml"), in(variant(v1, "v2", 1), "a.yaml")},
			[]string{"a.x.io a.yaml v2 also b.yaml"},
			[]string{`b.yaml:2:1: duplicate definition "a.x.io" with different content; using the one at a.yaml:2, ignoring the one at b.yaml:2`},
		},
		"Line": {
			"In one file the first position is used.",
			read(t, variant(v1, "v1", 1)+"---"+variant(v1, "v2", 1), Origin{File: "a.yaml"}).Definitions,
			[]string{"a.x.io a.yaml v1 also a.yaml"},
			[]string{`a.yaml:7:1: duplicate definition "a.x.io" with different content; using the one at a.yaml:2, ignoring the one at a.yaml:7`},
		},
		"Hash": {
			"Otherwise the content decides.",
			[]*Definition{from(variant(v1, "v1", 1), "south"), from(variant(v1, "v2", 1), "north")},
			[]string{"a.x.io south v1 also north"},
			[]string{`a.x.io: duplicate definition "a.x.io" with different content; using the one at cluster south, ignoring the one at cluster north`},
		},
		"Labels": {
			"Labels are part of the content.",
			[]*Definition{in(variant(v1, "v1", 1), "a.yaml"), in(strings.Replace(variant(v1, "v1", 1), "metadata: {", "metadata: {labels: {a: b}, ", 1), "b.yaml")},
			[]string{"a.x.io a.yaml v1 also b.yaml"},
			[]string{`b.yaml:2:1: duplicate definition "a.x.io" with different content; using the one at a.yaml:2, ignoring the one at b.yaml:2`},
		},
		"Unnamed": {
			"All definitions without a name are kept and come first.",
			[]*Definition{in(variant(v1, "v1", 1), "a.yaml"), in("{apiVersion: apiextensions.composer.io/v1, kind: CompositeResourceDefinition}", "c.yaml"), in("{apiVersion: apiextensions.composer.io/v1, kind: CompositeResourceDefinition}", "b.yaml")},
			[]string{" b.yaml", " c.yaml", "a.x.io a.yaml v1"}, nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				rand.Shuffle(len(tc.in), func(i, j int) { tc.in[i], tc.in[j] = tc.in[j], tc.in[i] })
				kept, findings := Merge(tc.in)
				if diff := cmp.Diff(tc.want, summaries(kept)); diff != "" {
					t.Fatalf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
				var got []string
				for _, f := range findings {
					got = append(got, f.Where()+": "+f.Message)
					if f.Rule != RuleConflict || f.Severity != finding.Warning || f.Hint == "" || f.Object != "a.x.io" {
						t.Errorf("%s\nfinding is %+v", tc.reason, f)
					}
				}
				if diff := cmp.Diff(tc.findings, got); diff != "" {
					t.Fatalf("%s\nfindings: -want, +got:\n%s", tc.reason, diff)
				}
			}
			for _, d := range tc.in {
				if len(d.Also) > 0 {
					t.Errorf("%s\nMerge changed its argument", tc.reason)
				}
			}
		})
	}
}

// summaries says in a line each what is kept and where else it was found.
func summaries(defs []*Definition) []string {
	where := func(o Origin) string { return o.File + o.Cluster }
	var out []string
	for _, d := range defs {
		line := d.Name + " " + where(d.Origin)
		for _, v := range d.Versions {
			line += " " + v.Name
		}
		for i, o := range d.Also {
			if i == 0 {
				line += " also"
			}
			line += " " + where(o)
		}
		out = append(out, line)
	}
	return out
}

// TestMergeTies checks definitions that differ only in the document.
func TestMergeTies(t *testing.T) {
	a := define(t, variant("apiextensions.composer.io/v1", "v1", 1), Origin{})
	b := define(t, strings.Replace(variant("apiextensions.composer.io/v1", "v1", 1), "spec:", "status: {x: 1}\nspec:", 1), Origin{})
	one, _ := Merge([]*Definition{a, b})
	two, _ := Merge([]*Definition{b, a})
	if x, y := tree.AppendCanonical(nil, one[0].Node), tree.AppendCanonical(nil, two[0].Node); string(x) != string(y) {
		t.Errorf("result depends on the order of\n%s and\n%s", x, y)
	}
}
