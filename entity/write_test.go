package entity

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func smallEntity() *Entity {
	return &Entity{
		APIVersion: "portal.io/v1alpha1",
		Kind:       KindResource,
		Metadata: Metadata{
			Name:        "a",
			Namespace:   "default",
			Title:       "A",
			Description: "One.\nTwo.\n",
			Labels:      map[string]string{"b": "1", "a": ""},
			Annotations: map[string]string{"y": "true", "x": "text"},
			Tags:        []string{"z", "a"},
			Links:       []Link{{URL: "https://example.com", Type: "docs", Icon: "i", Title: "T"}, {URL: "https://example.org"}},
		},
		Spec: tree.Obj(tree.F("type", tree.Str("t")), tree.F("owner", tree.Str("o"))),
	}
}

const smallYAML = `apiVersion: portal.io/v1alpha1
kind: Resource
metadata:
  name: a
  namespace: default
  title: A
  description: |
    One.
    Two.
  labels:
    a: ""
    b: "1"
  annotations:
    x: text
    "y": "true"
  tags:
    - z
    - a
  links:
    - url: https://example.com
      title: T
      icon: i
      type: docs
    - url: https://example.org
spec:
  type: t
  owner: o
`

const bareJSON = `{"apiVersion":"v1","kind":"K","metadata":{"name":"n"}}`

func bareEntity() *Entity {
	return &Entity{APIVersion: "v1", Kind: "K", Metadata: Metadata{Name: "n", Labels: map[string]string{}, Tags: []string{}}}
}

func TestWrite(t *testing.T) {
	small, bare := smallEntity(), bareEntity()
	cases := map[string]struct {
		reason string
		got    []byte
		want   string
	}{
		"yaml":          {"Fields have a readable order.", AppendYAML([]byte("# hi\n"), small), "# hi\n" + smallYAML},
		"documents":     {"Each document has a marker.", YAMLDocuments([]*Entity{small, bare}), "---\n" + smallYAML + "---\napiVersion: v1\nkind: K\nmetadata:\n  name: \"n\"\n"},
		"no documents":  {"Without entities nothing is written.", YAMLDocuments(nil), ""},
		"json":          {"JSON is indented by two spaces.", AppendJSON(nil, bare), "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"K\",\n  \"metadata\": {\n    \"name\": \"n\"\n  }\n}\n"},
		"array":         {"An array is one JSON document.", JSONArray([]*Entity{bare}), "[\n  {\n    \"apiVersion\": \"v1\",\n    \"kind\": \"K\",\n    \"metadata\": {\n      \"name\": \"n\"\n    }\n  }\n]\n"},
		"no array":      {"Without entities the array is empty.", JSONArray(nil), "[]\n"},
		"ndjson":        {"Each entity is one line.", AppendNDJSON(AppendNDJSON(nil, bare), bare), bareJSON + "\n" + bareJSON + "\n"},
		"empty is out":  {"Empty maps and lists are left out.", AppendNDJSON(nil, bare), bareJSON + "\n"},
		"spec as it is": {"An empty spec is written.", AppendNDJSON(nil, &Entity{Spec: tree.Obj()}), `{"apiVersion":"","kind":"","metadata":{"name":""},"spec":{}}` + "\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(tc.got)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSort(t *testing.T) {
	var es []*Entity
	for _, r := range []Ref{
		{"User", "", "a"}, {"Group", "", "b"}, {KindLocation, "", "a"}, {KindDomain, "", "a"}, {KindSystem, "", "a"},
		{KindComponent, "", "a"}, {KindResource, "", "a"}, {KindAPI, "", "a"},
		{KindTemplate, "z", "a"}, {KindTemplate, "default", "c"}, {KindTemplate, "", "b"}, {KindTemplate, "a", "d"},
	} {
		es = append(es, &Entity{Kind: r.Kind, Metadata: Metadata{Name: r.Name, Namespace: r.Namespace}})
	}
	Sort(es)
	var got []string
	for _, e := range es {
		got = append(got, e.Key())
	}
	want := []string{
		"template:a/d", "template:default/b", "template:default/c", "template:z/a",
		"api:default/a", "resource:default/a", "component:default/a", "system:default/a", "domain:default/a", "location:default/a",
		"group:default/b", "user:default/a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want the order kind, namespace, name: -want +got:\n%s", diff)
	}
}

// anyEntity draws entities with arbitrary text, valid or not.
func anyEntity() *rapid.Generator[*Entity] {
	text := rapid.StringOf(rapid.Rune())
	texts := rapid.MapOfN(text, text, 0, 4)
	value := rapid.OneOf(
		rapid.Map(text, tree.Str),
		rapid.Map(rapid.Int64(), tree.Number),
		rapid.Map(rapid.Bool(), tree.Boolean),
		rapid.Map(rapid.SliceOfN(text, 0, 3), func(ss []string) *tree.Node {
			n := tree.Arr()
			for _, s := range ss {
				n.Items = append(n.Items, tree.Str(s))
			}
			return n
		}),
	)
	link := rapid.Custom(func(t *rapid.T) Link {
		return Link{
			URL:   rapid.StringN(1, -1, -1).Draw(t, "url"),
			Title: text.Draw(t, "title"), Icon: text.Draw(t, "icon"), Type: text.Draw(t, "type"),
		}
	})
	return rapid.Custom(func(t *rapid.T) *Entity {
		e := &Entity{
			APIVersion: text.Draw(t, "apiVersion"),
			Kind:       text.Draw(t, "kind"),
			Metadata: Metadata{
				Name:        text.Draw(t, "name"),
				Namespace:   text.Draw(t, "namespace"),
				Title:       text.Draw(t, "title"),
				Description: text.Draw(t, "description"),
				Labels:      texts.Draw(t, "labels"),
				Annotations: texts.Draw(t, "annotations"),
				Tags:        rapid.SliceOfN(text, 0, 3).Draw(t, "tags"),
				Links:       rapid.SliceOfN(link, 0, 2).Draw(t, "links"),
			},
			Spec: tree.Obj(),
		}
		for k, v := range rapid.MapOfN(text, value, 0, 5).Draw(t, "spec") {
			e.Spec.Set(k, v)
		}
		return e
	})
}

// emptyAsNil treats an empty map or list like a missing one, as the writer
// does.
var emptyAsNil = cmp.Options{
	cmp.FilterValues(func(a, b map[string]string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b []Link) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore()),
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyEntity().Draw(t, "entity")
		for name, data := range map[string][]byte{
			"YAML":    YAMLDocuments([]*Entity{want, want}),
			"JSON":    append(AppendJSON(nil, want), AppendJSON(nil, want)...),
			"NDJSON":  AppendNDJSON(AppendNDJSON(nil, want), want),
			"unmixed": bytes.Join([][]byte{AppendYAML(nil, want), AppendNDJSON(nil, want)}, []byte("---\n")),
		} {
			docs, errs := parser.DecodeBytes(data)
			if len(errs) > 0 || len(docs) != 2 {
				t.Fatalf("%s: got %d documents, want 2: %v\n%s", name, len(docs), errs, data)
			}
			for _, doc := range docs {
				got, err := Parse(doc)
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, data)
				}
				if diff := cmp.Diff(want, got, emptyAsNil); diff != "" {
					t.Fatalf("%s: -want +got:\n%s\n%s", name, diff, data)
				}
				if Hash(got) != Hash(want) {
					t.Fatalf("%s: hash changed\n%s", name, data)
				}
			}
		}
	})
}
