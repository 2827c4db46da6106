package entity

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func TestParse(t *testing.T) {
	got, err := Parse(spec(smallYAML))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(smallEntity(), got); diff != "" {
		t.Errorf("entity after a round trip: -want +got:\n%s", diff)
	}
	got, err = Parse(spec("{metadata: {labels: {}, tags: []}}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Entity{}, got); diff != "" {
		t.Errorf("Parse of an entity with missing fields, which Check reports later: -want +got:\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"list":               {"An entity must be a map.", "[a]", "cannot read entity: must be a map, found array"},
		"apiVersion":         {"A number is not a string.", "apiVersion: 1", "cannot read entity: apiVersion must be a string, found integer"},
		"kind":               {"Null is not a string.", "kind: null", "cannot read entity: kind must be a string, found null"},
		"spec":               {"The spec must be a map.", "spec: a", "cannot read entity: spec must be a map, found string"},
		"relations":          {"A catalog refuses relations on input.", "relations: []", "cannot read entity: relations is not a field of an entity"},
		"metadata":           {"The metadata must be a map.", "metadata: []", "cannot read entity: metadata must be a map, found array"},
		"metadata uid":       {"An Entity has no field for the uid.", "metadata: {uid: a}", "cannot read entity: metadata.uid is not a field of an entity's metadata"},
		"name":               {"The name must be a string.", "metadata: {name: 1}", "cannot read entity: metadata.name must be a string, found integer"},
		"namespace":          {"The namespace must be a string.", "metadata: {namespace: []}", "cannot read entity: metadata.namespace must be a string, found array"},
		"title":              {"The title must be a string.", "metadata: {title: {}}", "cannot read entity: metadata.title must be a string, found object"},
		"description":        {"The description must be a string.", "metadata: {description: true}", "cannot read entity: metadata.description must be a string, found boolean"},
		"labels":             {"The labels must be a map.", "metadata: {labels: []}", "cannot read entity: metadata.labels must be a map, found array"},
		"label":              {"Label values must be strings.", "metadata: {labels: {a.b: 1}}", `cannot read entity: metadata.labels["a.b"] must be a string, found integer`},
		"annotation":         {"Annotation values must be strings.", "metadata: {annotations: {a: true}}", `cannot read entity: metadata.annotations["a"] must be a string, found boolean`},
		"tags":               {"The tags must be a list.", "metadata: {tags: a}", "cannot read entity: metadata.tags must be a list, found string"},
		"tag":                {"Tags must be strings.", "metadata: {tags: [a, 1.5]}", "cannot read entity: metadata.tags[1] must be a string, found number"},
		"links":              {"The links must be a list.", "metadata: {links: {}}", "cannot read entity: metadata.links must be a list, found object"},
		"link":               {"A link must be a map.", "metadata: {links: [a]}", "cannot read entity: metadata.links[0] must be a map, found string"},
		"link title":         {"The title of a link must not be empty.", "metadata: {links: [{url: a, title: ''}]}", "cannot read entity: metadata.links[0].title is empty"},
		"link field":         {"A Link has no field for other keys.", "metadata: {links: [{url: a, b: c}]}", "cannot read entity: metadata.links[0].b is not a field of a link"},
		"first mistake wins": {"Only the first error is returned.", "{kind: 1, apiVersion: 1}", "cannot read entity: kind must be a string, found integer"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(spec(tc.in))
			if got := errorText(err); got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
			var pe *ParseError
			if !errors.As(err, &pe) || pe.Pos.Line != 1 || pe.Hint == "" {
				t.Errorf("%s\nerror has no position or no hint: %+v", tc.reason, pe)
			}
		})
	}
	if _, err := Parse(nil); errorText(err) != "cannot read entity: must be a map, found nothing" {
		t.Errorf("Parse(nil) returned %v", err)
	}
	if _, err := Parse(&tree.Node{Kind: tree.Map, Fields: []tree.Field{{Key: "spec"}}}); err == nil {
		t.Error("field without a value was accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(smallYAML))
	f.Add([]byte(bareJSON))
	f.Add([]byte("metadata: {links: [{}, {url: ''}, {url: a}]}\nspec: {a: [1]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, _ := parser.DecodeBytes(data)
		for _, doc := range docs {
			e, err := Parse(doc)
			if err != nil {
				continue
			}
			Check(e)
			again, err := Parse(e.Node())
			if err != nil {
				t.Fatalf("cannot parse an entity after a round trip: %v", err)
			}
			if Hash(again) != Hash(e) {
				t.Errorf("entity after a round trip: -want +got:\n%s", cmp.Diff(e, again))
			}
		}
	})
}
