package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/validation"
)

func TestShape(t *testing.T) {
	schema := decoded(t, `{"title":"Basics","required":["name"],"properties":{"list":{"items":{"type":"string"}}}}`)
	got := answer(t, checked(t, schema, decoded(t, `{"list":["a",5]}`)))
	want := `[{"path":[],"property":"instance","message":"requires property \"name\"",` +
		`"schema":{"title":"Basics","required":["name"],"properties":{"list":{"items":{"type":"string"}}}},"instance":{"list":["a",5]},` +
		`"name":"required","argument":"name","stack":"instance requires property \"name\""},` +
		`{"path":["list",1],"property":"instance.list[1]","message":"is not of a type(s) string","schema":{"type":"string"},"instance":5,` +
		`"name":"type","argument":["string"],"stack":"instance.list[1] is not of a type(s) string"}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response differs (-want +got):\n%s", diff)
	}
}

// TestOurs checks intentional differences from Backstage.
func TestOurs(t *testing.T) {
	cases := map[string]struct {
		reason string
		schema string
		value  string
		want   []string
	}{
		"NothingFilledIn": {
			reason: "A form without values is an empty form.",
			schema: `{"required":["name"]}`,
			want:   []string{`instance requires property "name"`},
		},
		"LargeLimit": {
			reason: "Limits beyond 2^53 are compared exactly, unlike in Backstage.",
			schema: `{"properties":{"n":{"maximum":9007199254740992}}}`,
			value:  `{"n":9007199254740993}`,
			want:   []string{"instance.n must be less than or equal to 9007199254740992"},
		},
		"LargeEnum": {
			reason: "A large number differs from its neighbour.",
			schema: `{"properties":{"n":{"enum":[9223372036854775807]}}}`,
			value:  `{"n":9223372036854775806}`,
			want:   []string{"instance.n is not one of enum values: 9223372036854775807"},
		},
		"LargeMultiple": {
			reason: "The last digit of a large number counts.",
			schema: `{"properties":{"n":{"type":"integer","multipleOf":10}}}`,
			value:  `{"n":123456789012345678901}`,
			want:   []string{"instance.n is not a multiple of (divisible by) 10"},
		},
		"LargeInteger": {
			reason: "A large number is an integer too.",
			schema: `{"properties":{"n":{"type":"integer"}}}`,
			value:  `{"n":1e30}`,
		},
		"Methods": {
			reason: "A property may have the name of an object method.",
			schema: `{"required":["toString"],"additionalProperties":false,"properties":{"a":{}}}`,
			value:  `{"constructor":1}`,
			want: []string{
				`instance requires property "toString"`,
				`instance is not allowed to have the additional property "constructor"`,
			},
		},
		"ListAndMap": {
			reason: "An empty list is not an empty map.",
			schema: `{"properties":{"a":{"enum":[[]]}}}`,
			value:  `{"a":{}}`,
			want:   []string{"instance.a is not one of enum values: "},
		},
		"TwoWithOneID": {
			reason: "The first of two schemas with one id counts.",
			schema: `{"properties":{"a":{"id":"x","type":"string"},"b":{"id":"x","type":"null"},"c":{"$ref":"x"}}}`,
			value:  `{"c":1}`,
			want:   []string{"instance.c is not of a type(s) string"},
		},
		"Page": {
			reason: "A page that is not a schema accepts nothing.",
			schema: `"text"`,
			value:  `{}`,
			want:   []string{"instance cannot be checked: the page is not a schema; tell the author of the template"},
		},
		"Pattern": {
			reason: "Other problems are still found, and the message does not repeat the pattern of the schema.",
			schema: `{"properties":{"a":{"type":"integer"},"b":{"pattern":"(x"}}}`,
			value:  `{"a":"x","b":"y"}`,
			want: []string{
				"instance.a is not of a type(s) integer",
				"instance.b cannot be checked: the pattern is invalid; tell the author of the template",
			},
		},
		"Extends": {
			reason: "An unsupported keyword accepts nothing.",
			schema: `{"extends":{"required":["a"]}}`,
			value:  `{}`,
			want:   []string{"instance cannot be checked: extends is not supported, use allOf; tell the author of the template"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			value := tree.Nil()
			if tc.value != "" {
				value = decoded(t, tc.value)
			}
			for _, p := range checked(t, decoded(t, tc.schema), value) {
				got = append(got, p.Stack)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPages(t *testing.T) {
	one := tree.Obj(tree.F("title", tree.Str("One")))
	cases := map[string]struct {
		reason     string
		parameters *tree.Node
		want       []*tree.Node
	}{
		"Absent": {reason: "A Template need not have parameters."},
		"Null":   {reason: "Parameters can be null.", parameters: tree.Nil()},
		"Object": {reason: "A single page need not be a list.", parameters: one, want: []*tree.Node{one}},
		"List":   {reason: "Pages are a list.", parameters: tree.Arr(one, one), want: []*tree.Node{one, one}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, validation.Pages(tc.parameters)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// nested wraps a schema or value n times.
func nested(n int, before, inner, after string) string {
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// TestBounds checks schemas and values that would take forever.
func TestBounds(t *testing.T) {
	deep := tree.Str("end")
	schema := tree.Obj(tree.F("type", tree.Str("string")))
	for range 100_000 {
		deep = tree.Arr(deep)
		schema = tree.Obj(tree.F("items", schema))
	}
	cases := map[string]struct {
		reason        string
		schema, value *tree.Node
		want          string
	}{
		"Deep":   {"The depth of nesting is limited.", schema, deep, "nested too deeply"},
		"Loop":   {"A schema that refers to itself is refused.", decoded(t, `{"$ref":"#"}`), tree.Obj(), "refers to itself"},
		"Circle": {"Two schemas that refer to each other are refused.", decoded(t, `{"$ref":"#/a","a":{"anyOf":[{"$ref":"#/b"}]},"b":{"$ref":"#/a"}}`), tree.Obj(), "refers to itself"},
		"Backtracking": {
			"A pattern with catastrophic backtracking is stopped.",
			decoded(t, `{"properties":{"a":{"pattern":"^(?=x)(x+x+)+y$"}}}`),
			tree.Obj(tree.F("a", tree.Str(strings.Repeat("x", 5000)))), "takes too long",
		},
		"LongTried": {
			"A text is limited for a pattern that backtracks, as it needs memory for each character.",
			decoded(t, `{"properties":{"a":{"pattern":"^(?=x)(?:x|y)*z"}}}`),
			tree.Obj(tree.F("a", tree.Str(strings.Repeat("x", 3<<20)))), "too long for a pattern with lookaround or backreferences",
		},
		"LongPattern": {
			"The nesting of a pattern is limited.",
			tree.Obj(tree.F("properties", tree.Obj(tree.F("a", tree.Obj(tree.F("pattern", tree.Str(nested(100_000, "(", "a", ")")))))))),
			decoded(t, `{"a":"a"}`), "pattern is invalid",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			problems := checked(t, tc.schema, tc.value)
			if len(problems) != 1 || !strings.Contains(problems[0].Message, tc.want) {
				t.Errorf("%s\nwant a problem with %q, got %v", tc.reason, tc.want, problems)
			}
		})
	}
}

// wide returns a page of n fields, and its values.
func wide(n int) (schema, filled *tree.Node) {
	properties, required, filled := tree.Obj(), tree.Arr(), tree.Obj()
	for i := range n {
		name := fmt.Sprintf("field%d", i)
		properties.Fields = append(properties.Fields, tree.F(name, tree.Obj(
			tree.F("title", tree.Str("Field")), tree.F("type", tree.Str("string")), tree.F("description", tree.Str(strings.Repeat("what it is for ", 20))),
			tree.F("pattern", tree.Str(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)), tree.F("maxLength", tree.Number(63)))))
		required.Items = append(required.Items, tree.Str(name))
		filled.Fields = append(filled.Fields, tree.F(name, tree.Str("a-value")))
	}
	return tree.Obj(tree.F("required", required), tree.F("properties", properties), tree.F("additionalProperties", tree.Boolean(false))), filled
}

// TestLarge validates a page on which every field is missing: the response does
// not repeat the page for each of them.
func TestLarge(t *testing.T) {
	schema, _ := wide(900)
	problems := checked(t, schema, tree.Obj())
	if len(problems) != 900 || problems[0].Schema != schema {
		t.Fatalf("%d problems, the first with the schema %v", len(problems), problems[0].Schema)
	}
	if size := len(answer(t, problems)); size > 4<<20 {
		t.Errorf("response has %d bytes, want at most 4 MiB", size)
	}
	schema, _ = wide(5000)
	if got := len(checked(t, schema, tree.Obj())); got != 1000 {
		t.Errorf("%d problems, want 1000", got)
	}
}

func FuzzCheck(f *testing.F) {
	for _, fact := range facts(f, "testdata/facts.txt") {
		f.Add(fact.schema, fact.value)
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, _ := parser.DecodeBytes([]byte(schema))
		v, _ := parser.DecodeBytes([]byte(value))
		if len(s) == 0 || len(v) == 0 {
			return
		}
		problems, err := validation.Check(s[0], v[0], nil)
		if err != nil {
			return
		}
		for _, p := range problems {
			if p.Path == nil || p.Message == "" || p.Name == "" || p.Stack != p.Property+" "+p.Message {
				t.Errorf("%s: problem is incomplete: %+v", schema, p)
			}
		}
		if got := decoded(t, answer(t, problems)); len(got.Items) != len(problems) {
			t.Errorf("response has %d problems, want %d", len(got.Items), len(problems))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	schema, filled := wide(2000)
	b.ReportAllocs()
	for b.Loop() {
		if problems := checked(b, schema, filled); len(problems) > 0 {
			b.Fatal(problems[0].Stack)
		}
	}
}
