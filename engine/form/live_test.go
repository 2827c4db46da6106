package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

func decoded(t *testing.T, text string) *tree.Node {
	t.Helper()
	n, err := wire.Decoder{}.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLiveChoices(t *testing.T) {
	const class = `"x-ui-choices":{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","labelSelector":{"matchLabels":{"tier":"fast"}}}`
	const choices = `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","labelSelector":"tier=fast","valuePath":"metadata.name"}`
	cases := map[string]struct{ reason, schema, want string }{
		"Text":    {"A text gets the field.", `{"type":"string",` + class + `}`, `{"type":"string","ui:field":"LiveChoices","ui:options":{"choices":` + choices + `}}`},
		"Integer": {"An integer too.", `{"type":"integer",` + class + `}`, `{"type":"integer","ui:field":"LiveChoices","ui:options":{"choices":` + choices + `}}`},
		"List":    {"A list is chosen from as a whole.", `{"type":"array","items":{"type":"string"},` + class + `}`, `{"type":"array","items":{"type":"string"},"ui:field":"LiveChoices","ui:options":{"choices":` + choices + `}}`},
		"Enum":    {"A list of values in the schema wins.", `{"type":"string","enum":["a"],` + class + `}`, `{"type":"string","enum":["a"]}`},
		"Boolean": {"Other types have no choices.", `{"type":"boolean",` + class + `}`, `{"type":"boolean"}`},
		"Author":  {"A field that the author selects wins.", `{"type":"string","x-ui-field":"EntityPicker",` + class + `}`, `{"type":"string","ui:field":"EntityPicker"}`},
		"Hidden":  {"A hidden field stays hidden.", `{"type":"string","x-ui-hidden":true,` + class + `}`, `{"type":"string","ui:widget":"hidden"}`},
		"Secret":  {"Secrets are never offered.", `{"type":"string","x-ui-choices":{"apiVersion":"v1","kind":"Secret"}}`, `{"type":"string"}`},
		"Invalid": {"Invalid choices leave a text.", `{"type":"string","x-ui-choices":{"kind":"Node"}}`, `{"type":"string"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &compiler{maxDepth: maxDepth, out: &Form{}}
			got := c.schema(decoded(t, tc.schema), "", 0)
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, got, ""))); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
			if plain := (stock{}).schema(got, true); ChoicesOf(plain) != nil || plain.Get("ui:options").Has(optionChoices) || plain.Get("ui:field").Str() == FieldChoices {
				t.Errorf("%s A Backstage without the field gets %s", tc.reason, tree.AppendJSON(nil, plain, ""))
			}
			if kept := (stock{yaml: true}).schema(got, true); !got.Equal(kept) {
				t.Errorf("%s A Backstage with the field gets %s", tc.reason, tree.AppendJSON(nil, kept, ""))
			}
		})
	}
}

func TestFieldAt(t *testing.T) {
	live := func(kind string) string {
		return `{"ui:field":"LiveChoices","ui:options":{"choices":{"kind":"` + kind + `"}}}`
	}
	spec := decoded(t, `{"parameters":[{"properties":{"name":{},"a":`+live("A")+`}},{
		"properties":{"storage":{"properties":{"class":`+live("B")+`,"a/b":`+live("C")+`}},"disks":{"items":{"properties":{"class":`+live("D")+`}}},"more":{"additionalProperties":`+live("E")+`},"mode":{"enum":["x"]}},
		"dependencies":{"mode":{"oneOf":[{"properties":{"mode":{},"f":`+live("F")+`}}]}},"allOf":[{"if":{},"then":{"properties":{"g":`+live("G")+`}}}],
		"oneOf":[{"properties":{"h":{}}},{"properties":{"h":`+live("H")+`}}]}]}`)
	cases := map[string]struct{ reason, pointer, want string }{
		"Top":         {"A field of a page.", "/a", "A"},
		"Nested":      {"A field of an object.", "/storage/class", "B"},
		"Escaped":     {"A key with a slash.", "/storage/a~1b", "C"},
		"Item":        {"A field of an item.", "/disks/12/class", "D"},
		"Map":         {"A value of a map.", "/more/any", "E"},
		"Dependency":  {"A field that another one shows.", "/f", "F"},
		"Conditional": {"A field of a condition.", "/g", "G"},
		"Branch":      {"The branch with choices.", "/h", "H"},
		"Plain":       {"A field without choices.", "/name", ""},
		"None":        {"No such field.", "/nothing", ""},
		"Relative":    {"A pointer begins with a slash.", "a", ""},
		"Empty":       {"The form itself is no field.", "", ""},
		"NoIndex":     {"Items have numbers.", "/disks/x/class", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ChoicesOf(FieldAt(spec, tc.pointer)).Get("kind").Str(); got != tc.want {
				t.Errorf("%s Got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	deep := tree.Obj()
	for range 64 {
		deep = tree.Obj(tree.F("allOf", tree.Arr(deep, deep)))
	}
	if got := FieldAt(tree.Obj(tree.F("parameters", deep)), "/x"); got != nil {
		t.Errorf("a field of an endless form is %v", got)
	}
}
