package impact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
)

const definition = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xbuckets.example.org, annotations: {terasky.backstage.io/owner: platform}}
spec:
  group: example.org
  names: {kind: XBucket, plural: xbuckets}
  claimNames: {kind: Bucket, plural: buckets}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: string, enum: [small, medium, large]}
              count: {type: integer}
              zones: {type: array, items: {type: object, properties: {name: {type: string}}}}
`

func read(t *testing.T, text string) *xrd.Set {
	t.Helper()
	var set xrd.Set
	if err := set.Read(strings.NewReader(text), xrd.Origin{File: "x.yaml"}); err != nil || len(set.Findings) > 0 {
		t.Fatal(err, set.Findings)
	}
	return &set
}

// compare returns the pairs of two texts.
func compare(t *testing.T, older, newer string) []diff.Pair {
	t.Helper()
	pairs, err := diff.CompareSets(t.Context(), read(t, older), read(t, newer))
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// lines returns the counts of the only definition, and its effects.
func lines(im *Impact) []string {
	d := im.Result().Definitions[0]
	out := []string{fmt.Sprintf("%d checked, %d affected, %d invalid", d.Checked, d.Affected, d.Invalid)}
	for _, e := range d.Effects {
		out = append(out, strings.TrimPrefix(e.Rule+": "+e.Describe(d.Checked), ": "))
	}
	return out
}

func claim(name, spec string) string {
	return fmt.Sprintf("apiVersion: example.org/v1\nkind: Bucket\nmetadata: {name: %s, namespace: team}\nspec: %s\n", name, spec)
}

func TestImpact(t *testing.T) {
	cases := map[string]struct {
		reason string
		edits  []string
		// resources are specs of claims.
		resources []string
		want      []string
	}{
		"Harmless": {"Nothing changed.", nil, []string{"{size: small}"}, []string{"1 checked, 0 affected, 0 invalid"}},
		"Enum": {"Each value is attributed to its own change.", []string{"[small, medium, large]", "[large]"}, []string{"{size: small}", "{size: small}", "{size: medium}", "{size: large}", "{}"}, []string{
			"5 checked, 3 affected, 0 invalid",
			`DIF024: v1: spec.size: enum value "small" removed: 2 of 5 resources in 1 cluster would be refused`,
			`DIF024: v1: spec.size: enum value "medium" removed: 1 of 5 resources in 1 cluster would be refused`,
		}},
		"Invalid": {"What was invalid before is not an effect.", []string{"type: integer", "type: integer, maximum: 9"}, []string{"{size: huge}", "{size: huge, count: 10}"}, []string{
			"2 checked, 1 affected, 2 invalid",
			"DIF027: v1: spec.count: maximum changed from none to 9: 1 of 2 resources in 1 cluster would be refused",
		}},
		"Dropped": {"A removed field loses its values.", []string{"              count: {type: integer}\n", ""}, []string{"{count: 1}", "{}"}, []string{
			"2 checked, 1 affected, 0 invalid", "DIF020: v1: spec.count: field removed: 1 of 2 resources in 1 cluster would lose data",
		}},
		"Required": {"The missing field is the one of the change.", []string{"properties: {name: {type: string}}", "required: [name], properties: {name: {type: string}}"}, []string{"{zones: [{name: a}, {}]}", "{}"}, []string{
			"2 checked, 1 affected, 0 invalid", "DIF022: v1: spec.zones[*].name: newly required, without a default: 1 of 2 resources in 1 cluster would be refused",
		}},
		"Rule": {"The text of the rule leads to its change.", []string{"type: integer", "type: integer, x-kubernetes-validations: [{rule: self != 3, message: not three}, {rule: self != 4, message: not four}]"}, []string{"{count: 4}"}, []string{
			"1 checked, 1 affected, 0 invalid", "DIF029: v1: spec.count: validation rule may refuse objects: not four: 1 of 1 resources in 1 cluster would be refused",
		}},
		"Version": {"The version is gone.", []string{"name: v1\n", "name: v2\n"}, []string{"{}"}, []string{
			"1 checked, 1 affected, 0 invalid", "DIF010: v1: version removed: 1 of 1 resources in 1 cluster would no longer be served",
		}},
		"Claims": {"Claims are gone.", []string{"  claimNames: {kind: Bucket, plural: buckets}\n", ""}, []string{"{}"}, []string{
			"1 checked, 1 affected, 0 invalid", "DIF006: claims of kind Bucket are no longer offered: 1 of 1 resources in 1 cluster would no longer be served",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			newer := definition
			for i := 0; i < len(tc.edits); i += 2 {
				newer = strings.Replace(newer, tc.edits[i], tc.edits[i+1], 1)
			}
			im := New(compare(t, definition, newer), Options{})
			for i, spec := range tc.resources {
				for _, o := range read(t, claim(fmt.Sprintf("r%d", i), spec)).Others {
					if ok, err := im.Add(t.Context(), "one", o.Node); !ok || err != nil {
						t.Fatalf("resource %d: %v, %v", i, ok, err)
					}
				}
			}
			if diff := cmp.Diff(tc.want, lines(im)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// versions is a definition with three versions, of which v1 is preferred and stored.
const versions = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: buckets.example.org}
spec:
  group: example.org
  names: {kind: Bucket, plural: buckets}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string, enum: [small, large]}, color: {type: string}}}}}}}
  - {name: v1beta1, served: false, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}, color: {type: string}}}}}}}
  - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}, color: {type: string}}}}}}}
`

// TestWritten counts resources that are read in the preferred version, by the version that
// they are written in.
func TestWritten(t *testing.T) {
	const rule = `x-kubernetes-validations: [{rule: "self.spec.size != 'large'", message: not large}]`
	cases := map[string]struct {
		reason string
		edits  []string
		// written are the versions in which the resources were written, empty if unknown.
		written []string
		want    []string
	}{
		"Unserved": {"Only the manifests with the version are refused.", []string{"v1alpha1, served: true", "v1alpha1, served: false"}, []string{"v1alpha1", "v1", ""}, []string{
			"3 checked, 1 affected, 0 invalid", "DIF011: v1alpha1: version no longer served: 1 of 3 resources in 1 cluster would no longer be served",
		}},
		"Removed": {"Only the manifests with the version are refused.", []string{"v1alpha1, served: true", "v1alpha2, served: true"}, []string{"v1alpha1", "v1"}, []string{
			"2 checked, 1 affected, 0 invalid", "DIF010: v1alpha1: version removed: 1 of 2 resources in 1 cluster would no longer be served",
		}},
		"Preferred": {"A resource without managed fields counts as written in the version it is read in.", []string{"name: v1, served: true", "name: v1, served: false"}, []string{"v1alpha1", "v1", ""}, []string{
			"3 checked, 2 affected, 0 invalid", "DIF011: v1: version no longer served: 2 of 3 resources in 1 cluster would no longer be served",
		}},
		"Narrowed": {"The schema of the version applies.", []string{"[small, large]", "[small]"}, []string{"v1alpha1", "v1"}, []string{
			"2 checked, 1 affected, 0 invalid", `DIF024: v1alpha1: spec.size: enum value "large" removed: 1 of 2 resources in 1 cluster would be refused`,
		}},
		"NotServedBefore": {"A version that was not served counts as unknown.", []string{"  - {name: v1beta1", "  - {name: v1beta2"}, []string{"v1beta1", "v9"}, []string{"2 checked, 0 affected, 0 invalid"}},
		"Stored": {"Objects are stored in the version that they are read in.", []string{"referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}, color: {type: string}}", "referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}}"}, []string{"v1alpha1", "v1"}, []string{
			"2 checked, 2 affected, 0 invalid", "DIF020: v1: spec.color: field removed: 2 of 2 resources in 1 cluster would lose data",
		}},
		"Root": {"A rule of the whole object counts beside another problem.", []string{
			"referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}", "referenceable: true, schema: {openAPIV3Schema: {type: object, " + rule + ", properties: {spec: {type: object, properties: {size: {type: string, pattern: ^s}",
		}, []string{"v1"}, []string{
			"1 checked, 1 affected, 0 invalid",
			"DIF028: v1: spec.size: pattern ^s added: 1 of 1 resources in 1 cluster would be refused",
			"DIF029: v1: validation rule may refuse objects: not large: 1 of 1 resources in 1 cluster would be refused",
		}},
		"RootAlone": {"A rule of the whole object is attributed to its change.", []string{
			"referenceable: true, schema: {openAPIV3Schema: {type: object, ", "referenceable: true, schema: {openAPIV3Schema: {type: object, " + rule + ", ",
		}, []string{"v1"}, []string{
			"1 checked, 1 affected, 0 invalid", "DIF029: v1: validation rule may refuse objects: not large: 1 of 1 resources in 1 cluster would be refused",
		}},
		"RootTwice": {"Two rules of the whole object are two effects.", []string{
			"referenceable: true, schema: {openAPIV3Schema: {type: object, ", "referenceable: true, schema: {openAPIV3Schema: {type: object, " + strings.Replace(rule, "}]", "}, {rule: \"self.spec.size == 'small'\", message: only small}]", 1) + ", ",
		}, []string{"v1"}, []string{
			"1 checked, 1 affected, 0 invalid",
			"DIF029: v1: validation rule may refuse objects: not large: 1 of 1 resources in 1 cluster would be refused",
			"DIF029: v1: validation rule may refuse objects: only small: 1 of 1 resources in 1 cluster would be refused",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			newer := versions
			for i := 0; i < len(tc.edits); i += 2 {
				if !strings.Contains(newer, tc.edits[i]) {
					t.Fatalf("the definition lacks %q", tc.edits[i])
				}
				newer = strings.Replace(newer, tc.edits[i], tc.edits[i+1], 1)
			}
			im := New(compare(t, versions, newer), Options{})
			for i, version := range tc.written {
				managed := ""
				if version != "" {
					managed = fmt.Sprintf(", managedFields: [{manager: kubectl, operation: Apply, apiVersion: example.org/%s, fieldsType: FieldsV1, fieldsV1: {f:spec: null}}]", version)
				}
				text := fmt.Sprintf("apiVersion: example.org/v1\nkind: Bucket\nmetadata: {name: r%d, namespace: team%s}\nspec: {size: large, color: red}\n", i, managed)
				for _, o := range read(t, text).Others {
					if ok, err := im.Add(t.Context(), "one", o.Node); !ok || err != nil {
						t.Fatalf("resource %d: %v, %v", i, ok, err)
					}
				}
			}
			if diff := cmp.Diff(tc.want, lines(im)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnexplained checks that what no change explains is counted, without the text of the rule:
// it may have values of the resource.
func TestUnexplained(t *testing.T) {
	const rule = `x-kubernetes-validations: [{rule: "!has(self.spec.color) || self.spec.size != 'large'", messageExpression: "'size is ' + self.spec.size"}]`
	older := strings.Replace(versions, "referenceable: true, schema: {openAPIV3Schema: {type: object, ", "referenceable: true, schema: {openAPIV3Schema: {type: object, "+rule+", ", 1)
	at := strings.LastIndex(older, "color: {type: string}")
	newer := older[:at] + "color: {type: string, default: red}" + older[at+len("color: {type: string}"):]
	im := New(compare(t, older, newer), Options{})
	for _, o := range read(t, "apiVersion: example.org/v1\nkind: Bucket\nmetadata: {name: r, namespace: team}\nspec: {size: large}\n").Others {
		if ok, err := im.Add(t.Context(), "one", o.Node); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	want := []string{"1 checked, 1 affected, 0 invalid", "refused by a validation rule: 1 of 1 resources in 1 cluster would be refused"}
	if diff := cmp.Diff(want, lines(im)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNames checks that names are limited, sorted and have their owner, and that a
// composite of a claim is not counted twice.
func TestNames(t *testing.T) {
	newer := strings.Replace(definition, "[small, medium, large]", "[large]", 1)
	im := New(compare(t, definition, newer), Options{Names: 3})
	for i := range 10 {
		for _, cluster := range []string{"west", "east"} {
			for _, o := range read(t, claim(fmt.Sprintf("r%d", 9-i), "{size: small}")).Others {
				if _, err := im.Add(t.Context(), cluster, o.Node); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	others := "apiVersion: example.org/v1\nkind: XBucket\nmetadata: {name: c}\nspec: {size: small, claimRef: {name: r1}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	for _, o := range read(t, others).Others {
		if ok, err := im.Add(t.Context(), "west", o.Node); ok || err != nil {
			t.Errorf("%s was counted: %v, %v", o.Kind, ok, err)
		}
	}
	r := im.Result()
	e := r.Definitions[0].Effects[0]
	want := []Resource{
		{Cluster: "east", Kind: "Bucket", Namespace: "team", Name: "r9", Owner: "platform"},
		{Cluster: "west", Kind: "Bucket", Namespace: "team", Name: "r8", Owner: "platform"},
		{Cluster: "west", Kind: "Bucket", Namespace: "team", Name: "r9", Owner: "platform"},
	}
	if diff := cmp.Diff(want, e.Resources); diff != "" || e.Count != 20 || r.Clusters != 2 || r.Checked != 20 {
		t.Errorf("count %d, clusters %d, checked %d; -want +got:\n%s", e.Count, r.Clusters, r.Checked, diff)
	}
}
