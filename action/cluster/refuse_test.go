package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// TestChoose checks how a step selects its cluster.
func TestChoose(t *testing.T) {
	one := source.Cluster{Name: "one", URL: "https://127.0.0.1:1", Token: "t"}
	two := one
	two.Name = "two"
	broken := source.Cluster{Name: "broken", Kubeconfig: "/does/not/exist"}
	cases := map[string]struct {
		reason  string
		all     []source.Cluster
		opts    actions.Options
		cluster string
		want    string
	}{
		"None":    {"Without clusters the step fails.", nil, actions.Options{}, "", "cannot select a cluster: none is configured\nadd a cluster to the configuration (composerIngestor.clusters), or start one with make run-cluster"},
		"Several": {"With several clusters one must be named.", []source.Cluster{one, two}, actions.Options{}, "", "cannot select a cluster: several are configured, and the step names none\nset cluster to one of one, two"},
		"Unknown": {"The error for an unknown cluster lists the known ones.", []source.Cluster{one, two}, actions.Options{Default: "one"}, "three", `cannot select a cluster: unknown cluster "three"` + "\nset cluster to one of one, two"},
		"Default": {"The default cluster is used.", []source.Cluster{one, broken}, actions.Options{Default: "broken"}, "", `cluster "broken": cannot connect`},
		"Only":    {"The only cluster is used.", []source.Cluster{one}, actions.Options{}, "", `cluster "one": cannot apply Thing x/y`},
		"Beside":  {"A broken cluster does not affect the others.", []source.Cluster{broken, one}, actions.Options{}, "one", `cluster "one": cannot apply Thing x/y`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apply := actions.Actions(actions.NewFleet(tc.all, cluster.Options{Patience: time.Millisecond}), tc.opts)[0]
			got := do(t.Context(), t, apply, with(thing("x", "y", "{}"), "cluster: "+tc.cluster+"\n")).message()
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestManifest checks manifests that cannot be applied to any cluster.
func TestManifest(t *testing.T) {
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	cases := map[string]struct{ reason, manifest, want string }{
		"Empty":         {"An empty manifest is refused.", `""`, "cannot read the manifest: empty\nset an object, or its YAML"},
		"Null":          {"A null manifest is refused.", `null`, "cannot read the manifest: empty\nset an object, or its YAML"},
		"Text":          {"Text is not an object.", `just text`, "cannot read the manifest: found text, not an object\nset an object, or its YAML"},
		"Number":        {"A number is not an object.", `7`, "cannot read the manifest: found an integer, not an object\nset an object, or its YAML"},
		"Spoilt":        {"A YAML syntax error is reported with its position.", `"a: [1"`, "cannot read the manifest: line 1, "},
		"Twice":         {"A duplicate key is refused.", `"kind: A\nkind: B\n"`, "cannot read the manifest: line 2, column 1: "},
		"NoKind":        {"An object needs a kind.", `{apiVersion: v1, metadata: {name: a}}`, "cannot use the manifest: kind is missing\nwrite the kind of the object"},
		"NoVersion":     {"An object needs an apiVersion.", `{kind: Thing, metadata: {name: a}}`, "cannot use the manifest: apiVersion is missing\nwrite the group and version of its kind, such as example.org/v1"},
		"BadVersion":    {"An apiVersion with a path is refused.", `{apiVersion: a/../b, kind: Thing, metadata: {name: a}}`, `cannot use the manifest: apiVersion "a/../b" is not valid` + "\nwrite a group and a version, such as example.org/v1"},
		"NoName":        {"An object needs a name.", `{apiVersion: v1, kind: ConfigMap}`, "cannot use the manifest of ConfigMap: metadata.name is missing\ngive the object a name"},
		"GenerateName":  {"generateName is not supported.", `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}`, "cannot use the manifest of ConfigMap: generateName without a name is not supported\nset metadata.name; an object with a generated name cannot be found again"},
		"PathName":      {"A name with a path is refused.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a/../../b}}`, `cannot use the manifest of ConfigMap: metadata.name "a/../../b" is not a valid name` + "\nuse lower case letters, digits and dashes"},
		"PathNamespace": {"A namespace with a path is refused.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ../x}}`, `cannot use the manifest of ConfigMap: metadata.namespace "../x" is not a valid namespace` + "\nuse lower case letters, digits and dashes"},
		"Second":        {"The error names the document.", `"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: X\n"`, "document 2: cannot use the manifest: apiVersion is missing"},
		"Same":          {"A duplicate object is refused.", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}]`, "cannot use the manifest: duplicate ConfigMap default/a\nremove one of them"},
		"Scope":         {"A cluster-scoped object must not have a namespace.", `{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}`, `cannot use the manifest of Namespace a: namespace "b" is set, but the kind is cluster-scoped` + "\nremove metadata.namespace"},
		"Group":         {"An unknown API group is refused.", `{apiVersion: nope.org/v1, kind: Thing, metadata: {name: a}}`, `cluster "real": cannot apply Thing a: the cluster does not serve kind Thing of nope.org/v1` + "\ncheck apiVersion and kind, and that the definition is installed in the cluster and established"},
		"Version":       {"An unknown version is refused.", `{apiVersion: test.example.org/v7, kind: Thing, metadata: {name: a}}`, `cluster "real": cannot apply Thing a: the cluster does not serve kind Thing of test.example.org/v7` + "\ncheck apiVersion; of test.example.org the cluster serves v1, not v7"},
		"Kind":          {"An unknown kind is refused.", `{apiVersion: test.example.org/v1, kind: Thong, metadata: {name: a}}`, `cluster "real": cannot apply Thong a: the cluster does not serve kind Thong of test.example.org/v1` + "\ncheck the kind, and that its definition is established; of test.example.org/v1 the cluster serves Thing"},
		"Namespace":     {"A missing namespace is reported.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: nowhere}}`, `cluster "real": cannot apply ConfigMap nowhere/a: namespace "nowhere" does not exist` + "\nchoose another namespace, or create this one first"},
		"ServerName":    {"A name that the server does not accept is refused.", `{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b}}`, `cluster "real": cannot apply ConfigMap default/A_b: metadata.name: Invalid value: "A_b"`},
		"BuiltinType":   {"A built-in kind is validated with its schema.", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: two}}`, `cluster "real": cannot apply Deployment default/a: spec.replicas: expected numeric (int or float), got string` + "\ncorrect the listed fields"},
		"BuiltinField":  {"An unknown field of a built-in kind is refused.", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replica: 2}}`, `cluster "real": cannot apply Deployment default/a: spec.replica: unknown field`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			got := do(t.Context(), t, apply, "manifest: "+tc.manifest).message()
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v, want no retries of a manifest that is not valid", took)
			}
		})
	}
}

// TestNotEstablished checks the error for a kind that is not served because its
// definition is not established: the message names the condition.
func TestNotEstablished(t *testing.T) {
	c, err := fleet(t).Cluster("real")
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions"
	definition := `{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","metadata":{"name":"xidles.idle.example.org"},
		"spec":{"group":"idle.example.org","names":{"kind":"XIdle","plural":"xidles"},"claimNames":{"kind":"Idle","plural":"idles"},
		"versions":[{"name":"v1","served":true,"referenceable":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	if _, err := c.Do(t.Context(), cluster.Call{Doing: "create", Method: "POST", Path: path, Type: "application/json", Body: []byte(definition)}); err != nil {
		t.Fatal(err)
	}
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	blind := actions.Actions(account(t, "blinder", `[{apiGroups: [idle.example.org], resources: ["*"], verbs: [get, create, patch]}]`), actions.Options{})[0]
	const says, xr, claim = `: the cluster does not serve kind `, "{apiVersion: idle.example.org/v1, kind: XIdle, metadata: {name: a}}", "{apiVersion: idle.example.org/v1, kind: Idle, metadata: {name: a}}"
	const at = `cluster "real": cannot apply `
	steps := []struct{ reason, conditions, manifest, want string }{
		{"A definition without conditions is not established yet.", `[]`, xr, at + "XIdle a" + says + "XIdle of idle.example.org/v1: XRD xidles.idle.example.org: Established is Unknown: NotServed: "},
		{"The message of the condition is shown.", `[{"type":"Established","status":"False","reason":"Broken","message":"no CRD","lastTransitionTime":"2026-01-01T00:00:00Z"}]`, xr,
			at + "XIdle a" + says + "XIdle of idle.example.org/v1: XRD xidles.idle.example.org: Established is False: Broken: no CRD\nrun kubectl describe xrd xidles.idle.example.org"},
		{"A claim that is not offered is reported.", `[{"type":"Established","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"Offered","status":"False","reason":"Taken","message":"the name is taken","lastTransitionTime":"2026-01-01T00:00:00Z"}]`, claim,
			at + "Idle a" + says + "Idle of idle.example.org/v1: XRD xidles.idle.example.org: Offered is False: Taken: the name is taken"},
		{"A kind that is established but not served gets the general message.", `[{"type":"Established","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]`, xr,
			at + "XIdle a" + says + "XIdle of idle.example.org/v1\ncheck apiVersion and kind"},
	}
	for _, step := range steps {
		set(t, path+"/xidles.idle.example.org/status", "crossplane", `{"status":{"conditions":`+step.conditions+`}}`)
		if got := do(t.Context(), t, apply, "manifest: "+step.manifest).message(); !strings.HasPrefix(got, step.want) {
			t.Errorf("%s:\nwant %s\ngot  %s", step.reason, step.want, got)
		}
		if got := do(t.Context(), t, blind, "manifest: "+step.manifest).message(); !strings.Contains(got, says) || !strings.HasSuffix(got, "established") {
			t.Errorf("%s: error without permission to read definitions is %s", step.reason, got)
		}
	}
}

// TestFields checks values that violate the schema of a definition; the message
// names the field.
func TestFields(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	// A user without permission to read definitions gets the error of the server.
	blind := actions.Actions(account(t, "blind", `[{apiGroups: [test.example.org], resources: [things], verbs: [get, create, patch]}]`), actions.Options{})[0]
	cases := map[string]struct {
		reason, spec string
		want, server []string
	}{
		"Fine":     {"Valid values are accepted.", "{size: small, tier: null, note: null, count: 10, port: 80, tags: [a], rules: [{name: a, weight: 0.5}], labels: {a: b}, free: {x: [1]}}", nil, nil},
		"Text":     {"An int-or-string field accepts a string.", "{size: small, port: http}", nil, nil},
		"Required": {"A missing required field is named.", "{}", []string{"spec.size (Size of it): is required"}, []string{"spec.size: Required value"}},
		"Inside":   {"A field within a list is named.", "{size: small, rules: [{name: a}, {}]}", []string{"spec.rules[1].name: is required"}, []string{"spec.rules[1].name: Required value"}},
		"Enum":     {"The allowed values are listed.", "{size: huge}", []string{`spec.size (Size of it): must be one of "small", "large", not "huge"`}, []string{`spec.size: Unsupported value: "huge": supported values: "small", "large"`}},
		"Type":     {"A wrong type is reported.", "{size: small, count: many}", []string{"spec.count: must be of type integer, not string"}, []string{"spec.count: expected numeric (int or float), got string"}},
		"Null":     {"Null is not a string.", "{size: small, host: null}", []string{"spec.host: must be of type string, not null"}, []string{`spec.host: Invalid value: "null": must be of type string: "null"`}},
		"Range":    {"A value above the maximum is reported.", "{size: small, count: 11}", []string{"spec.count: must be at most 10, not 11"}, []string{"spec.count: Invalid value: 11: should be less than or equal to 10"}},
		"Open":     {"An exclusive minimum is respected.", "{size: small, rules: [{name: a, weight: 0}]}", []string{"spec.rules[0].weight: must be greater than 0, not 0"}, []string{"spec.rules[0].weight: Invalid value: 0: should be greater than 0"}},
		"Pattern":  {"A pattern mismatch is reported.", "{size: small, host: A1}", []string{`spec.host: "A1" does not match ^[a-z]+$`}, []string{`spec.host: Invalid value: "A1": should match '^[a-z]+$'`}},
		"Length":   {"A text that is too long is reported.", "{size: small, host: toolong}", []string{"spec.host: must have at most 5 characters, not 7"}, []string{`spec.host: Too long: may not be more than 5 bytes`}},
		"Items":    {"A list with too many items is reported.", "{size: small, tags: [a, b, c]}", []string{"spec.tags: must have at most 2 items, not 3"}, []string{`spec.tags: Too many: 3: must have at most 2 items`}},
		"Map":      {"A map value of a wrong type is reported.", "{size: small, labels: {a: 1}}", []string{"spec.labels.a: must be of type string, not number"}, []string{"spec.labels.a: expected string"}},
		"Unknown": {"An unknown field is refused, not dropped silently.", "{size: small, rules: [{name: a, wait: 1, wight: 2}]}",
			[]string{"spec.rules[0].wait: the cluster dropped the value: its schema has no such field, or an admission webhook removed it", "spec.rules[0].wight: the cluster dropped the value: its schema has no such field, or an admission webhook removed it"},
			[]string{"spec.rules[0].wait: the cluster dropped the value: its schema has no such field, or an admission webhook removed it", "spec.rules[0].wight: the cluster dropped the value: its schema has no such field, or an admission webhook removed it"}},
		"Many": {"All errors are reported.", "{size: huge, count: 0}",
			[]string{"spec.count: must be at least 1, not 0", `spec.size (Size of it): must be one of "small", "large", not "huge"`},
			[]string{"spec.count: Invalid value: 0: should be greater than or equal to 1", `spec.size: Unsupported value: "huge": supported values: "small", "large"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for who, a := range map[string]struct {
				err  error
				want []string
			}{
				"with the definition":    {do(t.Context(), t, apply, with(thing(ns, "one", tc.spec), "dryRun: true\n")).err, tc.want},
				"without the definition": {do(t.Context(), t, blind, with(thing(ns, "one", tc.spec), "dryRun: true\n")).err, tc.server},
			} {
				var got []string
				if e, ok := errors.AsType[*actions.InvalidError](a.err); ok {
					for _, p := range e.Problems {
						got = append(got, p.String())
					}
				} else if a.err != nil {
					t.Fatalf("%s: error has another type: %v", who, a.err)
				}
				if diff := cmp.Diff(a.want, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", tc.reason, who, diff)
				}
			}
		})
	}
}

// TestSchemaChanges checks a definition that changes after its schema was read,
// and a schema that the program supplies in place of the cluster's.
func TestSchemaChanges(t *testing.T) {
	ns, s := namespace(t), server(t)
	define := func(size string) string {
		return fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: gadgets.%[1]s.example.org}
spec:
  group: %[1]s.example.org
  names: {kind: Gadget, plural: gadgets}
  versions:
    - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {enum: [%[2]s], type: string}}}}}}}
`, ns, size)
	}
	s.Apply(t, define("small"))
	gadget := fmt.Sprintf("{apiVersion: %[1]s.example.org/v1, kind: Gadget, metadata: {name: a, namespace: %[1]s}, spec: {size: large}}", ns)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	if got := do(t.Context(), t, apply, "manifest: "+gadget).message(); !strings.Contains(got, `spec.size: must be "small", not "large"`) {
		t.Fatalf("value is not valid in the old schema, but apply returned: %s", got)
	}
	s.Apply(t, define("small, large"))
	eventually(t, "the new schema is served", func() bool {
		return do(t.Context(), t, apply, "manifest: "+gadget).err == nil
	})
	own := actions.Options{Schema: func(apiVersion, kind string) *tree.Node {
		if kind != "Gadget" || apiVersion != ns+".example.org/v1" {
			return nil
		}
		docs, _ := parser.DecodeBytes([]byte("{type: object, properties: {size: {type: string, maxLength: 3}}}"))
		return docs[0]
	}}
	if got := do(t.Context(), t, actions.Actions(fleet(t), own)[0], "manifest: "+gadget).message(); !strings.Contains(got, "spec.size: must have at most 3 characters, not 5") {
		t.Errorf("schema of the program was not used: %s", got)
	}
}
