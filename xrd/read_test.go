package xrd

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// flat returns a definition on one line, as JSON.
func flat(name string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.composer.io/v1","kind":"CompositeResourceDefinition","metadata":{"name":%q},"spec":{"group":"x.io"}}`, name)
}

func record(name, meta string) string {
	return fmt.Sprintf(`{"source":"kubernetes","timestamp":"2024-01-01T00:00:00Z","xrd":%s,"metadata":%s}`, flat(name), meta)
}

func TestRead(t *testing.T) {
	const block = "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata:\n  name: %s\n"
	cases := map[string]struct {
		reason   string
		in       string
		want     []string // what was read: kind name line
		findings []string
	}{
		"YAML": {"YAML documents are read.", fmt.Sprintf(block, "a") + "---\n" + fmt.Sprintf(block, "b"), []string{"XRD a 1", "XRD b 6"}, nil},
		"JSON": {"A JSON object is read.", flat("a"), []string{"XRD a 1"}, nil},
		"NDJSON": {
			"One object per line is read.",
			flat("a") + "\n" + flat("b") + "\n", []string{"XRD a 1", "XRD b 2"}, nil,
		},
		"Array": {"A JSON array may contain definitions, records and arrays.", "[" + flat("a") + ",\n" + record("b", "{}") + ",\n[" + flat("c") + "]]", []string{"XRD a 1", "XRD b 2", "XRD c 3"}, nil},
		"List": {
			"YAML output of kubectl is read.",
			"apiVersion: v1\nitems:\n- " + flat("a") + "\n- " + flat("b") + "\nkind: List\nmetadata:\n  resourceVersion: \"\"\n", []string{"XRD a 3", "XRD b 4"}, nil,
		},
		"ListJSON": {"JSON output of kubectl is read.", "{\n\"apiVersion\": \"v1\",\n\"items\": [\n" + flat("a") + ",\n" + flat("b") + "\n],\n\"kind\": \"List\"\n}\n", []string{"XRD a 4", "XRD b 5"}, nil},
		"TypedList": {
			"Items of a typed list get its kind.",
			"apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinitionList\nitems:\n- metadata: {name: a}\n- " + flat("b"), []string{"XRD a 4", "XRD b 5"}, nil,
		},
		"EmptyList": {"A list may be empty.", "apiVersion: v1\nkind: List\nitems: []\n", nil, nil},
		"Record":    {"An extract record is read.", record("a", `{"cluster":"c"}`), []string{"XRD a 1"}, nil},
		"Records":   {"One record per line is read.", record("a", "{}") + "\n" + record("b", "{}"), []string{"XRD a 1", "XRD b 2"}, nil},
		"Kinds": {
			"Objects of other kinds are returned separately.",
			fmt.Sprintf(block, "a") + "---\napiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: c}\n---\napiVersion: x.io/v1\nkind: XA\nmetadata: {name: x}\n---\napiVersion: x.io/v1\nkind: CompositeResourceDefinition\nmetadata: {name: y}\n---\napiVersion: x.io/v1\nkind: Composition\nmetadata: {name: z}\n",
			[]string{"XRD a 1", "Composition c 6", "XA x 10", "CompositeResourceDefinition y 14", "Composition z 18"}, nil,
		},
		"NotObject": {
			"A document that is not an object is skipped and reported.",
			"a: b\n---\njust text\n---\n[1]\n---\nkind: X\n", nil,
			[]string{
				"f:1:1: XRD002 info document has no apiVersion and kind; skipped",
				"f:3:1: XRD002 info document has no apiVersion and kind; skipped",
				"f:5:2: XRD002 info document has no apiVersion and kind; skipped",
				"f:7:1: XRD002 info document has no apiVersion and kind; skipped",
			},
		},
		"NotRecord": {
			"An incomplete record is reported.",
			`{"source":"file","xrd":5}` + "\n" + `{"xrd":{}}`, nil,
			[]string{
				"f:1:24: XRD005 error cannot use the extract record: xrd is of type integer, not object",
				"f:2:8: XRD005 error cannot use the extract record: xrd is an object without a kind, not a CompositeResourceDefinition",
			},
		},
		"Syntax": {
			"An unreadable document does not affect the others.",
			fmt.Sprintf(block, "a") + "---\na: b: c\n---\n" + fmt.Sprintf(block, "b"), []string{"XRD a 1", "XRD b 8"},
			[]string{"f:6:1: XRD001 error cannot read the document: mapping values are not allowed in this context"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var s Set
			if err := s.Read(strings.NewReader(tc.in), Origin{File: "f"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, contents(&s)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			var got []string
			for _, f := range s.Findings {
				got = append(got, fmt.Sprintf("%s: %s %s %s", f.Where(), f.Rule, f.Severity, f.Message))
				if f.Hint == "" {
					t.Errorf("%s\n%s has no hint", tc.reason, f.Rule)
				}
			}
			if diff := cmp.Diff(tc.findings, got); diff != "" {
				t.Errorf("%s\nfindings: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// contents lists the objects of s.
func contents(s *Set) []string {
	var out []string
	for _, d := range s.Definitions {
		out = append(out, fmt.Sprintf("XRD %s %d", d.Name, d.Node.At().Line))
	}
	for _, c := range s.Compositions {
		out = append(out, fmt.Sprintf("Composition %s %d", c.Name, c.Node.At().Line))
	}
	for _, o := range s.Others {
		out = append(out, fmt.Sprintf("%s %s %d", o.Kind, o.Name, o.Node.At().Line))
	}
	return out
}

func TestReadSeveral(t *testing.T) {
	s := read(t, flat("a"), Origin{File: "a"})
	if err := s.Read(strings.NewReader(flat("b")+"\n---\n- 5: [\n---\n"), Origin{File: "b"}); err != nil {
		t.Fatal(err)
	}
	if s.Documents != 3 || len(s.Definitions) != 2 || s.Definitions[1].Origin.File != "b" || finding.Count(s.Findings, finding.Error) != 1 {
		t.Errorf("Set has %d documents, %d definitions, findings %v", s.Documents, len(s.Definitions), s.Findings)
	}
	broken := errors.New("broken pipe")
	if err := s.Read(iotest.ErrReader(broken), Origin{}); !errors.Is(err, broken) {
		t.Errorf("Read returned %v, want the reader's error", err)
	}
}

func TestRecord(t *testing.T) {
	cases := map[string]struct {
		reason string
		meta   string
		want   Origin
	}{
		"Cluster":  {"The cluster is that of the record, the file the one that contains it.", `{"cluster":"c","namespace":"n"}`, Origin{Source: SourceCluster, File: "r.json", Cluster: "c"}},
		"Location": {"The location is that of the record.", `{"location":"url:https://x"}`, Origin{Source: SourceCluster, File: "r.json", Location: "url:https://x"}},
		"Path":     {"A path is used as the location.", `{"path":"a/b.yaml"}`, Origin{Source: SourceCluster, File: "r.json", Location: "file:a/b.yaml"}},
		"Both":     {"A location overrides a path.", `{"path":"a/b.yaml","location":"url:https://x"}`, Origin{Source: SourceCluster, File: "r.json", Location: "url:https://x"}},
		"None":     {"The metadata may be missing.", "null", Origin{Source: SourceCluster, File: "r.json"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, record("a", tc.meta), Origin{File: "r.json"})
			if diff := cmp.Diff(tc.want, d.Origin); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	docs, _ := parser.DecodeBytes([]byte(record("a", `{"cluster":"c"}`)))
	r, ok := ReadRecord(docs[0])
	if !ok {
		t.Fatal("ReadRecord does not recognise a record")
	}
	if diff := cmp.Diff(docs[0], r.Node()); diff != "" {
		t.Errorf("record after a round trip: -want, +got:\n%s", diff)
	}
	if got := string(tree.AppendJSON(nil, Record{Source: SourceFile, Timestamp: "t", XRD: tree.Obj()}.Node(), "")); got != `{"source":"file","timestamp":"t","xrd":{},"metadata":{}}` {
		t.Errorf("record without context is written as %s", got)
	}
}

func TestComposition(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   string
		want   Composition
		of     bool // it is for XA of x.io
	}{
		"Pipeline": {
			"A pipeline calls functions.",
			"{mode: Pipeline, compositeTypeRef: {apiVersion: x.io/v1, kind: XA}, pipeline: [{step: one, functionRef: {name: f}}, {step: two}]}",
			Composition{TypeAPIVersion: "x.io/v1", TypeKind: "XA", Mode: ModePipeline, Steps: []Step{{"one", "f"}, {"two", ""}}}, true,
		},
		"PipelineUnsaid": {
			"A Composition with steps has the mode Pipeline.",
			"{compositeTypeRef: {apiVersion: x.io/v2, kind: XA}, pipeline: [{step: one}]}",
			Composition{TypeAPIVersion: "x.io/v2", TypeKind: "XA", Mode: ModePipeline, Steps: []Step{{"one", ""}}}, true,
		},
		"Resources": {
			"A resource without a name has the name of its kind.",
			"{mode: Resources, compositeTypeRef: {apiVersion: x.io/v1, kind: XB}, resources: [{name: r}, {base: {kind: Bucket}}, {}]}",
			Composition{TypeAPIVersion: "x.io/v1", TypeKind: "XB", Mode: ModeResources, Resources: []string{"r", "Bucket", ""}}, false,
		},
		"ResourcesUnsaid": {
			"The default mode is Resources.",
			"{compositeTypeRef: {apiVersion: y.io/v1, kind: XA}, resources: [{name: r}]}",
			Composition{TypeAPIVersion: "y.io/v1", TypeKind: "XA", Mode: ModeResources, Resources: []string{"r"}}, false,
		},
		"Nothing": {"Fields of the wrong type are ignored.", "{compositeTypeRef: 5, pipeline: {}, resources: x, mode: []}", Composition{Mode: ModeResources}, false},
	}
	d := define(t, "{apiVersion: apiextensions.composer.io/v1, kind: CompositeResourceDefinition, spec: {group: x.io, names: {kind: XA}}}", Origin{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, group := range []string{"apiextensions.composer.io", "apiextensions.crossplane.io"} {
				s := read(t, fmt.Sprintf("apiVersion: %s/v1\nkind: Composition\nmetadata: {name: c}\nspec: %s\n", group, tc.spec), Origin{})
				c := s.Compositions[0]
				if c.Name != "c" || c.APIVersion != words.GroupExtensions+"/v1" || c.For(d) != tc.of {
					t.Errorf("%s\nComposition %s of %s is for XA: %t", tc.reason, c.Name, c.APIVersion, c.For(d))
				}
				got := *c
				got.Object = Object{}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestComposite(t *testing.T) {
	d := define(t, database, Origin{})
	cases := map[string]struct {
		reason string
		in     string
		want   *Composite
	}{
		"Composite": {
			"A v1 composite is read.",
			"{apiVersion: platform.io/v1, kind: XDatabase, metadata: {name: x}, spec: {compositionRef: {name: c}}, status: {conditions: [{type: Ready, status: 'True'}, {status: x}, {type: Synced}]}}",
			&Composite{Composition: "c", Conditions: []Condition{{Type: "Ready", Status: "True"}, {Type: "Synced"}}},
		},
		"Conditions": {
			"Conditions are sorted by type, unique, and have no times and messages.",
			"{apiVersion: platform.io/v1, kind: XDatabase, status: {conditions: [{type: Synced, status: 'False', reason: Oops, message: m, lastTransitionTime: now}, {type: Ready, status: 'False'}, {type: Ready, status: 'True', reason: Available}]}}",
			&Composite{Conditions: []Condition{{Type: "Ready", Status: "True", Reason: "Available"}, {Type: "Synced", Status: "False", Reason: "Oops"}}},
		},
		"BoundClaim": {
			"A claim has a reference to its composite.", "{apiVersion: platform.io/v1, kind: Database, spec: {resourceRef: {apiVersion: platform.io/v1, kind: XDatabase, name: x}, claimRef: {kind: Other, name: y}}}",
			&Composite{Claim: true, Counterpart: Reference{Kind: "XDatabase", Name: "x"}},
		},
		"BoundComposite": {
			"A composite has a reference to its claim.", "{apiVersion: platform.io/v1, kind: XDatabase, spec: {claimRef: {apiVersion: platform.io/v1, kind: Database, namespace: n, name: x}, resourceRef: {kind: Other, name: y}}}",
			&Composite{Counterpart: Reference{Kind: "Database", Namespace: "n", Name: "x"}},
		},
		"Claim":        {"A claim is recognized by its kind.", "{apiVersion: platform.io/v2, kind: Database, metadata: {name: x, namespace: n}}", &Composite{Claim: true}},
		"Modern":       {"A v2 composite is read.", "{apiVersion: platform.io/v1, kind: XDatabase, spec: {crossplane: {compositionRef: {name: c}}}}", &Composite{Composition: "c"}},
		"OtherKind":    {"An object of another kind is not a composite.", "{apiVersion: platform.io/v1, kind: XCache}", nil},
		"OtherGroup":   {"An object of another group is not a composite.", "{apiVersion: other.io/v1, kind: XDatabase}", nil},
		"WithoutGroup": {"An object of the core group is not a composite.", "{apiVersion: v1, kind: XDatabase}", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewComposite(read(t, tc.in, Origin{}).Others[0], d)
			if got != nil {
				got.Object = Object{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := (Origin{File: "a/b.yaml"}).SourceLocation(); got != "file:a/b.yaml" {
		t.Errorf("SourceLocation is %q", got)
	}
}
