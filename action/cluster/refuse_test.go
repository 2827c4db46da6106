package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// TestChoose names clusters that are not there.
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
		"None":    {"there must be one", nil, actions.Options{}, "", "cannot choose a cluster: none is configured\nadd one to the configuration (composerIngestor.clusters), or try it with make run-cluster, which brings one"},
		"Several": {"of several one is named", []source.Cluster{one, two}, actions.Options{}, "", "cannot choose a cluster: there are several, and the step names none\nset cluster to one of one, two"},
		"Unknown": {"the known ones are told", []source.Cluster{one, two}, actions.Options{Default: "one"}, "three", `cannot choose a cluster: there is none named "three"` + "\nset cluster to one of one, two"},
		"Default": {"the default is taken", []source.Cluster{one, broken}, actions.Options{Default: "broken"}, "", `cluster "broken": cannot connect`},
		"Only":    {"the only one is taken", []source.Cluster{one}, actions.Options{}, "", `cluster "one": cannot apply Thing x/y`},
		"Beside":  {"one that is broken costs no other its place", []source.Cluster{broken, one}, actions.Options{}, "one", `cluster "one": cannot apply Thing x/y`},
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

// TestManifest gives manifests that cannot be applied whatever the cluster.
func TestManifest(t *testing.T) {
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	cases := map[string]struct{ reason, manifest, want string }{
		"Empty":         {"there must be something", `""`, "cannot read the manifest: it is empty\ngive an object, or its YAML"},
		"Null":          {"a value that disappeared is nothing", `null`, "cannot read the manifest: it is empty\ngive an object, or its YAML"},
		"Text":          {"text is no object", `just text`, "cannot read the manifest: it is text, not an object\ngive an object, or its YAML"},
		"Number":        {"nor is a number", `7`, "cannot read the manifest: it is an integer, not an object\ngive an object, or its YAML"},
		"Spoilt":        {"YAML must be YAML", `"a: [1"`, "cannot read the manifest: line 1, "},
		"Twice":         {"a key twice is a mistake", `"kind: A\nkind: B\n"`, "cannot read the manifest: line 2, column 1: "},
		"NoKind":        {"it has a kind", `{apiVersion: v1, metadata: {name: a}}`, "cannot use the manifest: kind is missing\nwrite the kind of the object"},
		"NoVersion":     {"and a version", `{kind: Thing, metadata: {name: a}}`, "cannot use the manifest: apiVersion is missing\nwrite the group and version of its kind, such as example.org/v1"},
		"BadVersion":    {"which is no path", `{apiVersion: a/../b, kind: Thing, metadata: {name: a}}`, `cannot use the manifest: apiVersion "a/../b" is none` + "\nwrite a group and a version, such as example.org/v1"},
		"NoName":        {"and a name", `{apiVersion: v1, kind: ConfigMap}`, "cannot use the manifest of ConfigMap: metadata.name is missing\ngive the object a name"},
		"GenerateName":  {"that is not made up later", `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}`, "cannot use the manifest of ConfigMap: it has generateName and no name\ngive the object a name: one that the server makes up cannot be found again"},
		"PathName":      {"and leads nowhere else", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a/../../b}}`, `cannot use the manifest of ConfigMap: metadata.name "a/../../b" cannot be a name` + "\nuse lower case letters, digits and dashes"},
		"PathNamespace": {"nor does the namespace", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ../x}}`, `cannot use the manifest of ConfigMap: metadata.namespace "../x" cannot be a namespace` + "\nuse lower case letters, digits and dashes"},
		"Second":        {"the document is named", `"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: X\n"`, "document 2: cannot use the manifest: apiVersion is missing"},
		"Same":          {"no object is there twice", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}]`, "cannot use the manifest: ConfigMap default/a is in it twice\nleave one of them out"},
		"Scope":         {"what lives nowhere names no namespace", `{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}`, `cannot use the manifest of Namespace a: it names the namespace "b", but its kind lives in none` + "\nleave metadata.namespace out"},
		"Group":         {"the group is served", `{apiVersion: nope.org/v1, kind: Thing, metadata: {name: a}}`, `cluster "real": cannot apply Thing a: the cluster does not serve the kind Thing of nope.org/v1` + "\ncheck apiVersion and kind, and that the definition is installed in the cluster and established"},
		"Version":       {"so is the version", `{apiVersion: test.example.org/v7, kind: Thing, metadata: {name: a}}`, `cluster "real": cannot apply Thing a: the cluster does not serve the kind Thing of test.example.org/v7` + "\nof test.example.org the cluster serves v1, not v7: check apiVersion"},
		"Kind":          {"and the kind", `{apiVersion: test.example.org/v1, kind: Thong, metadata: {name: a}}`, `cluster "real": cannot apply Thong a: the cluster does not serve the kind Thong of test.example.org/v1` + "\nof test.example.org/v1 the cluster serves Thing: check the kind, and that its definition is established"},
		"Namespace":     {"the namespace is there", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: nowhere}}`, `cluster "real": cannot apply ConfigMap nowhere/a: there is no namespace "nowhere"` + "\nchoose another namespace, or make this one first"},
		"ServerName":    {"the server has rules for names", `{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b}}`, `cluster "real": cannot apply ConfigMap default/A_b: metadata.name: Invalid value: "A_b"`},
		"BuiltinType":   {"a kind of the server has a schema as well", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: two}}`, `cluster "real": cannot apply Deployment default/a: spec.replicas: expected numeric (int or float), got string` + "\ncorrect the fields it names"},
		"BuiltinField":  {"that does not have every field", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replica: 2}}`, `cluster "real": cannot apply Deployment default/a: spec.replica: there is no such field in the schema`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			got := do(t.Context(), t, apply, "manifest: "+tc.manifest).message()
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v: what cannot pass is not tried again", took)
			}
		})
	}
}

// TestNotEstablished applies what the cluster does not serve, because its
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
	const says, xr, claim = `: the cluster does not serve the kind `, "{apiVersion: idle.example.org/v1, kind: XIdle, metadata: {name: a}}", "{apiVersion: idle.example.org/v1, kind: Idle, metadata: {name: a}}"
	const at = `cluster "real": cannot apply `
	steps := []struct{ reason, conditions, manifest, want string }{
		{"without conditions it is not established yet", `[]`, xr, at + "XIdle a" + says + "XIdle of idle.example.org/v1: XRD xidles.idle.example.org: Established is Unknown: NotServed: "},
		{"the condition says why", `[{"type":"Established","status":"False","reason":"Broken","message":"no CRD","lastTransitionTime":"2026-01-01T00:00:00Z"}]`, xr,
			at + "XIdle a" + says + "XIdle of idle.example.org/v1: XRD xidles.idle.example.org: Established is False: Broken: no CRD\nrun kubectl describe xrd xidles.idle.example.org"},
		{"a claim is not offered", `[{"type":"Established","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"Offered","status":"False","reason":"Taken","message":"the name is taken","lastTransitionTime":"2026-01-01T00:00:00Z"}]`, claim,
			at + "Idle a" + says + "Idle of idle.example.org/v1: XRD xidles.idle.example.org: Offered is False: Taken: the name is taken"},
		{"what is established and not served is told as before", `[{"type":"Established","status":"True","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]`, xr,
			at + "XIdle a" + says + "XIdle of idle.example.org/v1\ncheck apiVersion and kind"},
	}
	for _, step := range steps {
		set(t, path+"/xidles.idle.example.org/status", "crossplane", `{"status":{"conditions":`+step.conditions+`}}`)
		if got := do(t.Context(), t, apply, "manifest: "+step.manifest).message(); !strings.HasPrefix(got, step.want) {
			t.Errorf("%s:\nwant %s\ngot  %s", step.reason, step.want, got)
		}
		if got := do(t.Context(), t, blind, "manifest: "+step.manifest).message(); !strings.Contains(got, says) || !strings.HasSuffix(got, "established") {
			t.Errorf("%s: who may not read definitions is told without them: %s", step.reason, got)
		}
	}
}

// TestFields breaks the schema of a definition in many ways; the message names
// the field.
func TestFields(t *testing.T) {
	ns := namespace(t)
	apply := actions.Actions(fleet(t), actions.Options{})[0]
	// Somebody who may not read definitions is told by the server.
	blind := actions.Actions(account(t, "blind", `[{apiGroups: [test.example.org], resources: [things], verbs: [get, create, patch]}]`), actions.Options{})[0]
	cases := map[string]struct {
		reason, spec string
		want, server []string
	}{
		"Fine":     {"all of it fits", "{size: small, tier: null, note: null, count: 10, port: 80, tags: [a], rules: [{name: a, weight: 0.5}], labels: {a: b}, free: {x: [1]}}", nil, nil},
		"Text":     {"a port may be a name", "{size: small, port: http}", nil, nil},
		"Required": {"what is required is named", "{}", []string{"spec.size (Size of it): it is required"}, []string{"spec.size: Required value"}},
		"Inside":   {"inside of a list too", "{size: small, rules: [{name: a}, {}]}", []string{"spec.rules[1].name: it is required"}, []string{"spec.rules[1].name: Required value"}},
		"Enum":     {"the choices are told", "{size: huge}", []string{`spec.size (Size of it): it must be one of "small", "large", not "huge"`}, []string{`spec.size: Unsupported value: "huge": supported values: "small", "large"`}},
		"Type":     {"types count", "{size: small, count: many}", []string{"spec.count: it must be of type integer, not string"}, []string{"spec.count: expected numeric (int or float), got string"}},
		"Null":     {"null is a type", "{size: small, host: null}", []string{"spec.host: it must be of type string, not null"}, []string{`spec.host: Invalid value: "null": must be of type string: "null"`}},
		"Range":    {"so do limits", "{size: small, count: 11}", []string{"spec.count: it must be at most 10, not 11"}, []string{"spec.count: Invalid value: 11: should be less than or equal to 10"}},
		"Open":     {"and those that are outside", "{size: small, rules: [{name: a, weight: 0}]}", []string{"spec.rules[0].weight: it must be greater than 0, not 0"}, []string{"spec.rules[0].weight: Invalid value: 0: should be greater than 0"}},
		"Pattern":  {"and patterns", "{size: small, host: A1}", []string{`spec.host: "A1" does not match ^[a-z]+$`}, []string{`spec.host: Invalid value: "A1": should match '^[a-z]+$'`}},
		"Length":   {"and lengths", "{size: small, host: toolong}", []string{"spec.host: it must have at most 5 characters, not 7"}, []string{`spec.host: Too long: may not be more than 5 bytes`}},
		"Items":    {"and numbers of items", "{size: small, tags: [a, b, c]}", []string{"spec.tags: it must have at most 2 items, not 3"}, []string{`spec.tags: Too many: 3: must have at most 2 items`}},
		"Map":      {"and values of maps", "{size: small, labels: {a: 1}}", []string{"spec.labels.a: it must be of type string, not number"}, []string{"spec.labels.a: expected string"}},
		"Unknown": {"a field nobody knows is not lost in silence", "{size: small, rules: [{name: a, wait: 1, wight: 2}]}",
			[]string{"spec.rules[0].wait: the cluster dropped the value: its schema has no such field, or an admission webhook removed it", "spec.rules[0].wight: the cluster dropped the value: its schema has no such field, or an admission webhook removed it"},
			[]string{"spec.rules[0].wait: the cluster dropped the value: its schema has no such field, or an admission webhook removed it", "spec.rules[0].wight: the cluster dropped the value: its schema has no such field, or an admission webhook removed it"}},
		"Many": {"all are told", "{size: huge, count: 0}",
			[]string{"spec.count: it must be at least 1, not 0", `spec.size (Size of it): it must be one of "small", "large", not "huge"`},
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
					t.Fatalf("%s: an error of another kind: %v", who, a.err)
				}
				if diff := cmp.Diff(a.want, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", tc.reason, who, diff)
				}
			}
		})
	}
}

// TestSchemaChanges changes a definition after its schema was read, and gives a
// schema that the cluster does not have.
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
	if got := do(t.Context(), t, apply, "manifest: "+gadget).message(); !strings.Contains(got, `spec.size: it must be "small", not "large"`) {
		t.Fatalf("it does not fit yet: %s", got)
	}
	s.Apply(t, define("small, large"))
	eventually(t, "the new schema is there", func() bool {
		return do(t.Context(), t, apply, "manifest: "+gadget).err == nil
	})
	own := actions.Options{Schema: func(apiVersion, kind string) *tree.Node {
		if kind != "Gadget" || apiVersion != ns+".example.org/v1" {
			return nil
		}
		docs, _ := tree.DecodeBytes([]byte("{type: object, properties: {size: {type: string, maxLength: 3}}}"))
		return docs[0]
	}}
	if got := do(t.Context(), t, actions.Actions(fleet(t), own)[0], "manifest: "+gadget).message(); !strings.Contains(got, "spec.size: it must have at most 3 characters, not 5") {
		t.Errorf("the program's schema counts: %s", got)
	}
}
