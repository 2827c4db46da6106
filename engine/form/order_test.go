package form

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

func TestOrder(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   string
		want   []string
	}{
		"by name": {
			"Fields are sorted by name last.",
			`{properties: {c: {type: string}, a: {type: string}, b: {type: string}}}`,
			[]string{"a", "b", "c"},
		},
		"required": {
			"Required fields come before others.",
			`{required: [c, b], properties: {a: {type: string}, b: {type: string}, c: {type: string}}}`,
			[]string{"b", "c", "a"},
		},
		"x-ui-order": {
			"x-ui-order comes before all other rules.",
			`{required: [c], properties: {a: {type: string}, b: {type: string, x-ui-order: 10}, c: {type: string}, d: {type: string, x-ui-order: 9}, e: {type: string, x-ui-order: -1}}}`,
			[]string{"e", "d", "b", "c", "a"},
		},
		"same order": {
			"Fields of the same x-ui-order are sorted by the other rules.",
			`{required: [c], properties: {a: {type: string, x-ui-order: 1}, b: {type: string, x-ui-order: 1}, c: {type: string, x-ui-order: 1}}}`,
			[]string{"c", "a", "b"},
		},
		"advanced": {
			"Advanced fields come last, sorted by the same rules.",
			`{required: [a], properties: {a: {type: string, x-ui-advanced: true}, b: {type: string, x-ui-advanced: true, x-ui-order: 0}, c: {type: string}}}`,
			[]string{"c", "b", "a"},
		},
		"as text": {
			"An x-ui-order that a cluster returns as a string is used too.",
			`{properties: {a: {type: string}, b: {type: string, x-ui-order: "1"}}}`,
			[]string{"b", "a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, modern, tc.spec, Options{})
			var got []string
			for _, p := range f.Pages.Items[1].Get("properties").Fields {
				got = append(got, p.Key)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// shuffled returns n with the keys of every map in another order, as if it had
// come from elsewhere.
func shuffled(n *tree.Node, random *rand.Rand) *tree.Node {
	out := *n
	out.Fields = make([]tree.Field, len(n.Fields))
	for i, at := range random.Perm(len(n.Fields)) {
		out.Fields[i] = tree.F(n.Fields[at].Key, shuffled(n.Fields[at].Value, random))
	}
	out.Items = nil
	for _, it := range n.Items {
		out.Items = append(out.Items, shuffled(it, random))
	}
	return &out
}

// bytesOf returns the complete output of a form.
func bytesOf(f *Form) string {
	var b strings.Builder
	b.WriteString(text(f.Pages))
	b.WriteString(text(f.Manifest))
	fmt.Fprintln(&b, f.Bindings)
	for _, found := range f.Findings {
		fmt.Fprintln(&b, found.Rule, found.Path, found.Message)
	}
	return b.String()
}

func TestOrderOfSource(t *testing.T) {
	spec := yaml(t, dedent(`
		type: object
		description: A widget. With details.
		required: [size, name]
		oneOf: [{required: [a], title: First}, {required: [b]}]
		allOf: [{properties: {z: {minLength: 1, maxLength: 2}, y: {type: string, pattern: "^a"}}}]
		x-kubernetes-validations: [{message: m, rule: r}]
		properties:
		  a: {type: string}
		  b: {type: object, default: {z: 1, a: {y: 1, b: 2}}, properties: {y: {type: string}, x: {type: string, pattern: '(?=x)'}}}
		  name: {type: string, pattern: '(?=y)'}
		  namespace: {type: string}
		  size: {enum: [{b: 1, a: 2}, {d: 1, c: 2}], x-ui-options: {z: {b: 1, a: 1}, y: 1}}
		  y: {type: string}
		  z: {type: string}
	`))
	d, v := define(t, legacyDefaults, object(spec))
	opts := Options{Compositions: []string{"a", "b"}, GitOps: true}
	want := bytesOf(check(t, Compile(d, v, opts)).Form)
	for seed := range uint64(20) {
		d, v := define(t, legacyDefaults, object(shuffled(spec, rand.New(rand.NewPCG(seed, 1)))))
		if diff := cmp.Diff(want, bytesOf(Compile(d, v, opts))); diff != "" {
			t.Fatalf("form depends on the order of keys: seed %d: -want +got:\n%s", seed, diff)
		}
	}
}

// nested returns a schema of nested objects, with a text in the innermost.
func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "{type: object, required: [l%d], properties: {l%d: ", i+1, i+1)
	}
	b.WriteString("{type: string}" + strings.Repeat("}}", depth))
	return b.String()
}

func TestDepth(t *testing.T) {
	cases := map[string]struct {
		reason string
		depth  int
		// yaml is the level that is YAML text, 0 if none is.
		yaml  int
		rules []string
	}{
		"deepest":  {"A depth of 12 is shown in full.", 12, 0, nil},
		"too deep": {"Beyond depth 12 the deepest parts become YAML text areas, with a finding.", 13, 12, []string{RuleDeep}},
		"deeper":   {"The limit holds at any depth.", 40, 12, []string{RuleDeep}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// A second field keeps the first from being a wrapper.
			schema := yaml(t, nested(tc.depth))
			schema.Get("properties").Set("flat", tree.Obj(tree.F("type", tree.Str("string"))))
			d, v := define(t, modern, object(schema))
			f := check(t, Compile(d, v, Options{}))
			at, got, levels := f.Pages.Items[1], 0, 0
			for next := at.Get("properties", "l1"); next != nil; next = at.Get("properties", fmt.Sprintf("l%d", levels+1)) {
				at = next
				levels++
				if at.Get("ui:field").Str() == FieldYAML {
					got = levels
				}
			}
			if got != tc.yaml {
				t.Errorf("%s\nYAML text is at level %d, want %d", tc.reason, got, tc.yaml)
			}
			if tc.yaml > 0 {
				if diff := cmp.Diff([]string{fmt.Sprintf("l%d", tc.yaml+1)}, at.Get("required").Strings()); diff != "" {
					t.Errorf("%s\nrequired fields at that level: -want +got:\n%s", tc.reason, diff)
				}
			}
			if diff := cmp.Diff(tc.rules, rulesOf(f.Form)); diff != "" {
				t.Errorf("%s\nfindings: -want +got:\n%s", tc.reason, diff)
			}
			value := `text`
			for i := tc.depth; i > 0; i-- {
				value = fmt.Sprintf("{l%d: %s}", i, value)
			}
			checkFilled(t, tc.reason, f, value, value)
		})
	}
}

func TestManyProperties(t *testing.T) {
	wide := func(fields, inner int) string {
		var b strings.Builder
		b.WriteString("{type: object, properties: {")
		for i := range fields {
			fmt.Fprintf(&b, "f%04d: {type: object, properties: {a: {type: array, items: {type: object, properties: {", i)
			for j := range inner {
				fmt.Fprintf(&b, "x%d: {type: string}, ", j)
			}
			b.WriteString("}}}}}, ")
		}
		b.WriteString("}}")
		return b.String()
	}
	cases := map[string]struct {
		reason        string
		fields, inner int
		yaml          bool
		rules         []string
	}{
		"fits":     {"Up to 2,000 properties are shown.", 20, 98, false, nil},
		"too many": {"Beyond 2,000 properties the deepest parts become YAML text areas, with a finding.", 20, 100, true, []string{RuleDeep}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, modern, wide(tc.fields, tc.inner), Options{})
			item := f.Pages.Items[1].Get("properties", "f0000", "properties", "a")
			if item == nil {
				t.Fatalf("%s\nform has fewer properties than allowed", tc.reason)
			}
			if got := strings.Contains(text(item), FieldYAML); got != tc.yaml {
				t.Errorf("%s\nYAML text: %v", tc.reason, got)
			}
			if diff := cmp.Diff(tc.rules, rulesOf(f.Form)); diff != "" {
				t.Errorf("%s\nfindings: -want +got:\n%s", tc.reason, diff)
			}
			checkFilled(t, tc.reason, f, `{f0001: {a: [{x1: y}]}}`, `{f0001: {a: [{x1: y}]}}`)
		})
	}
}

// TestWide checks the limit on the top level.
func TestWide(t *testing.T) {
	wide := tree.Obj()
	for i := range maxProperties + 1 {
		wide.Fields = append(wide.Fields, tree.F(fmt.Sprintf("f%04d", i), tree.Obj(tree.F("type", tree.Str("string")))))
	}
	cases := map[string]struct {
		reason string
		spec   *tree.Node
		page   string
		values string
	}{
		"spec": {
			"A spec with too many properties becomes a YAML text area.",
			tree.Obj(tree.F("properties", wide)),
			`{required: [spec], properties: {spec: {title: Spec, description: "The spec of the Widget, as YAML", type: object, default: {}, additionalProperties: true, ui:field: YamlText}}}`,
			`{spec: {f0001: x}}`,
		},
		"wrapper": {
			"A wrapper with too many properties becomes a YAML text area and is not unwrapped.",
			tree.Obj(tree.F("properties", tree.Obj(tree.F("parameters", tree.Obj(tree.F("required", tree.Strs([]string{"f0001"})), tree.F("properties", wide)))))),
			`{properties: {parameters: {title: Parameters, type: object, required: [f0001], additionalProperties: true, ui:field: YamlText}}}`,
			`{parameters: {f0001: x}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, v := define(t, modern, object(tc.spec))
			f := check(t, Compile(d, v, Options{}))
			if diff := cmp.Diff(text(yaml(t, tc.page)), kindPage(f.Form)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{RuleDeep}, rulesOf(f.Form)); diff != "" {
				t.Errorf("%s\nfindings: -want +got:\n%s", tc.reason, diff)
			}
			if err := f.validate(withMetadata(yaml(t, tc.values))); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

// TestHostile compiles very long lists. A quadratic algorithm would take
// minutes.
func TestHostile(t *testing.T) {
	const n = 100_000
	words, empty := make([]string, n), tree.Obj()
	props, branches := tree.Obj(), tree.Arr()
	for i := range words {
		words[i] = fmt.Sprintf("p%06d", i)
		props.Fields = append(props.Fields, tree.F(words[i], empty))
		branches.Items = append(branches.Items, tree.Obj(tree.F("required", tree.Strs(words[i:i+1]))))
	}
	list := tree.Strs(words)
	few := func() *tree.Node { return tree.Obj(tree.F("a", empty), tree.F("b", empty)) }
	cases := map[string]struct {
		reason string
		spec   *tree.Node
	}{
		"properties":  {"The schema has many required properties.", tree.Obj(tree.F("required", list), tree.F("properties", props))},
		"nested":      {"A property has many properties.", tree.Obj(tree.F("properties", tree.Obj(tree.F("a", tree.Obj(tree.F("required", list), tree.F("properties", props))), tree.F("b", empty))))},
		"required":    {"The schema requires many fields that do not exist.", tree.Obj(tree.F("required", list), tree.F("properties", few()))},
		"choices":     {"The schema has many choices of fields that do not exist.", tree.Obj(tree.F("oneOf", branches), tree.F("properties", few()))},
		"conditions":  {"The schema has many conditions on properties.", tree.Obj(tree.F("allOf", tree.Arr(tree.Obj(tree.F("required", list), tree.F("properties", props)))), tree.F("properties", few()))},
		"enum":        {"An enum has many values.", tree.Obj(tree.F("properties", tree.Obj(tree.F("a", tree.Obj(tree.F("enum", list))))))},
		"free":        {"A free object requires many fields.", tree.Obj(tree.F("properties", tree.Obj(tree.F("a", tree.Obj(tree.F("type", tree.Str("object")), tree.F("required", list))))))},
		"description": {"A description is very long.", tree.Obj(tree.F("description", tree.Str(strings.Repeat("e.g. a", n))), tree.F("properties", few()))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			f := formOf(modern, object(tc.spec), Options{})
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s\ntook %v", tc.reason, took)
			}
			if len(f.Findings) > maxFindings+1 {
				t.Errorf("%s\n%d findings", tc.reason, len(f.Findings))
			}
		})
	}
}
