package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// FuzzDefinition lints everything that can be decoded, as a definition and as a
// Composition: it never panics, findings are complete and limited, and the same
// input gives the same findings.
func FuzzDefinition(f *testing.F) {
	for _, tc := range allCases() {
		f.Add([]byte(tc.text))
	}
	f.Add([]byte(clean))
	f.Add([]byte(`{"spec": [1, {"versions": null}], "metadata": 3}`))
	f.Add([]byte("spec: {versions: [{schema: {openAPIV3Schema: {properties: {spec: &a {properties: {x: {items: [1], oneOf: [2], not: 3, enum: 4}}}, status: *a}}}}]}"))
	opts := lint.Options{RequiredLabels: []string{words.LabelIngest}}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, _ := parser.DecodeBytes(data)
		for _, n := range docs {
			d := xrd.NewDefinition(n, xrd.Origin{File: "x"})
			fs := lint.Definition(d, opts)
			if again := lint.Definition(d, opts); !slices.Equal(fs, again) {
				t.Errorf("two runs differ:\n%s\n%s", details(fs), details(again))
			}
			perRule := map[string]int{}
			for _, x := range append(fs, lint.Composition(xrd.NewComposition(n, xrd.Origin{File: "x"}))...) {
				if x.Rule == "" || x.Object == "" || x.Message == "" || x.Hint == "" {
					t.Errorf("incomplete finding: %+v", x)
				}
				if perRule[x.Rule]++; perRule[x.Rule] > 21 {
					t.Errorf("rule %s is reported too often", x.Rule)
				}
			}
		}
	})
}

// TestMutations replaces every value of a definition by one of another type,
// one at a time.
func TestMutations(t *testing.T) {
	root := read(t, clean).Definitions[0].Node
	values := []*tree.Node{
		nil, tree.Nil(), tree.Boolean(false), tree.Number(-1), {Kind: tree.Float, Text: "1e400"}, tree.Str(""),
		{Kind: tree.String, Text: "no", Plain: true}, tree.Arr(), tree.Arr(nil, tree.Nil(), tree.Obj()),
		tree.Obj(), {Kind: tree.Map, Fields: []tree.Field{{Key: "type"}, {Key: ""}, {Key: "x-kubernetes-list-type"}}},
	}
	runs := 0
	var mutate func(n *tree.Node)
	try := func(at **tree.Node) {
		was := *at
		for _, v := range values {
			*at = v
			lint.Definition(xrd.NewDefinition(root, xrd.Origin{}), lint.Options{RequiredLabels: []string{words.LabelIngest}})
			runs++
		}
		*at = was
		mutate(was)
	}
	mutate = func(n *tree.Node) {
		if n == nil {
			return
		}
		for i := range n.Fields {
			try(&n.Fields[i].Value)
		}
		for i := range n.Items {
			try(&n.Items[i])
		}
	}
	mutate(root)
	if runs < 1000 {
		t.Errorf("only %d mutations were tried", runs)
	}
}

// sixtyOne is a definition with 61 fields, as large as the 90th percentile of
// published ones.
func sixtyOne() string {
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, `group%[1]d:
  type: object
  description: A group of fields.
  required: [name, size]
  properties:
    name: {type: string, description: The name., minLength: 1, maxLength: 63, pattern: "^g%[1]d-[a-z]([-a-z0-9]*[a-z0-9])?$"}
    size: {type: string, description: The size., enum: [small, medium, large], default: small}
    count: {type: integer, description: How many., minimum: 1, maximum: 10, default: 3}
    zones: {type: array, description: Where., items: {type: string}, default: [a, b]}
    tags: {type: object, description: Tags., additionalProperties: {type: string}}
`, i)
	}
	return inSpec(b.String() + "last: {type: boolean, description: The last one., default: false}\n")
}

// branchy is a definition in which every branch refers to every property.
func branchy(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- required: [p%d]\n", i)
	}
	return property("type: object\noneOf:\n" + b.String() + "properties:\n" + indent(2, many(n)))
}

func BenchmarkDefinition(b *testing.B) {
	for name, text := range map[string]string{
		"61fields": sixtyOne(), "2000fields": inSpec(many(2000)), "1000branches": branchy(1000), "2000branches": branchy(2000),
	} {
		d := read(b, text).Definitions[0]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lint.Definition(d, lint.Options{})
			}
		})
	}
}
