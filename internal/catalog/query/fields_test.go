package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/rest"
)

const someEntity = `{"apiVersion":"v1","kind":"Component","metadata":{"namespace":"default","name":"a","annotations":{"backstage.io/managed-by-location":"url:x","a":"1","a.b":"2","quo\"te":"3"},"tags":["x","y"],"etag":"e"},"spec":{"type":"service","deep":{"list":[{"a":{"b":"}]\""}}],"n":null,"t":true,"f":-1.5e3},"empty":{}},"relations":[{"type":"ownedBy","targetRef":"group:default/t"}]}`

func TestProject(t *testing.T) {
	cases := map[string]struct {
		reason string
		fields []string
		entity string
		want   string
	}{
		"All": {
			reason: "Without fields an entity is returned completely.",
			want:   someEntity,
		},
		"Some": {
			reason: "A field path leads through objects.",
			fields: []string{"metadata.name", "kind", "spec.type"},
			want:   `{"kind":"Component","metadata":{"name":"a"},"spec":{"type":"service"}}`,
		},
		"Whole": {
			reason: "A field path can end at an object or a list.",
			fields: []string{"spec.deep", "metadata.tags", "relations"},
			want:   `{"metadata":{"tags":["x","y"]},"spec":{"deep":{"list":[{"a":{"b":"}]\""}}],"n":null,"t":true,"f":-1.5e3}},"relations":[{"type":"ownedBy","targetRef":"group:default/t"}]}`,
		},
		"Scalars": {
			reason: "A field can have any type of value.",
			fields: []string{"spec.deep.n", "spec.deep.t", "spec.deep.f"},
			want:   `{"spec":{"deep":{"n":null,"t":true,"f":-1.5e3}}}`,
		},
		"Dots": {
			reason: "Keys may contain dots.",
			fields: []string{"metadata.annotations.backstage.io/managed-by-location", "metadata.annotations.a.b"},
			want:   `{"metadata":{"annotations":{"backstage.io/managed-by-location":"url:x","a.b":"2"}}}`,
		},
		"Escaped": {
			reason: "Keys may contain quotes.",
			fields: []string{`metadata.annotations.quo"te`},
			want:   `{"metadata":{"annotations":{"quo\"te":"3"}}}`,
		},
		"Unknown": {
			reason: "Missing fields are left out, with their parents.",
			fields: []string{"status", "metadata.nope", "spec.deep.x.y", "kind.x", "spec.empty.a", ".", "metadata."},
			want:   `{}`,
		},
		"Overlap": {
			reason: "The longer of two overlapping parts is returned.",
			fields: []string{"metadata.name", "metadata.tags", "spec.deep.n", "spec"},
			want:   `{"metadata":{"name":"a","tags":["x","y"]},"spec":{"type":"service","deep":{"list":[{"a":{"b":"}]\""}}],"n":null,"t":true,"f":-1.5e3},"empty":{}}}`,
		},
		"List": {
			reason: "A field path cannot lead into lists.",
			fields: []string{"metadata.tags.x", "relations.type", "kind"},
			want:   `{"kind":"Component"}`,
		},
		"Later": {
			reason: "A key with dots does not hide a nested one.",
			fields: []string{"a.b"},
			entity: `{"a.b":1,"a":{"b":2},"c":3}`,
			want:   `{"a.b":1,"a":{"b":2}}`,
		},
		"Spaces": {
			reason: "JSON may have white space.",
			fields: []string{"a.c"},
			entity: " { \"b\" : [ 1 ] ,\n\"a\" : { \"c\" : 1 } } ",
			want:   `{"a":{"c":1}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			entity := tc.entity
			if entity == "" {
				entity = someEntity
			}
			chosen, err := NewFields(tc.fields)
			if err != nil {
				t.Fatal(err)
			}
			got, err := chosen.Project([]byte("x"), bytes.TrimSpace([]byte(entity)))
			if err != nil {
				t.Fatalf("%s\nproject(%q): %v", tc.reason, tc.fields, err)
			}
			if diff := cmp.Diff("x"+tc.want, string(got)); diff != "" {
				t.Errorf("%s\nproject(%q): -want +got:\n%s", tc.reason, tc.fields, diff)
			}
		})
	}
}

func TestNewFields(t *testing.T) {
	if _, err := NewFields([]string{"metadata.tags[0]"}); message(err) != "invalid fields, array type fields are not supported" {
		t.Errorf("field inside a list returned %v", err)
	}
	if _, err := NewFields(make([]string, maxFields+1)); err == nil {
		t.Errorf("%d fields are accepted", maxFields+1)
	}
	if got := rest.List([]string{" a , ,b", "c,"}); !cmp.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("List returned %q", got)
	}
}

// FuzzProject projects any text without a panic; the result of JSON is JSON with
// unchanged values.
func FuzzProject(f *testing.F) {
	f.Add(someEntity, "metadata.name,spec")
	f.Add(`{"a":{"b.c":[]},"a.b":{"c":1}}`, "a.b.c")
	f.Add(`{"a`, "a")
	f.Add(`{"a":1,}`, "b")
	f.Fuzz(func(t *testing.T, entity, ways string) {
		chosen, err := NewFields(rest.List([]string{ways}))
		if err != nil {
			return
		}
		got, err := chosen.Project(nil, []byte(entity))
		var before map[string]any
		if json.Unmarshal([]byte(entity), &before) != nil || strings.TrimSpace(entity) == "null" {
			return
		}
		if err != nil && strings.HasPrefix(entity, "{") {
			t.Fatalf("Project(%q, %q) returned %v", entity, ways, err)
		}
		var after map[string]any
		if err == nil && json.Unmarshal(got, &after) != nil {
			t.Fatalf("Project(%q, %q) returned %q, want JSON", entity, ways, got)
		}
		within(t, before, after)
	})
}

// within checks that after contains only values of before.
func within(t *testing.T, before, after map[string]any) {
	t.Helper()
	for k, v := range after {
		was, ok := before[k]
		if !ok {
			t.Fatalf("%q was added", k)
		}
		inner, isObject := v.(map[string]any)
		wasInner, wasObject := was.(map[string]any)
		if isObject && wasObject {
			within(t, wasInner, inner)
		} else if !cmp.Equal(was, v) {
			t.Fatalf("%q changed from %v to %v", k, was, v)
		}
	}
}

// bigEntity returns an entity as large as a Template with its form.
func bigEntity() []byte {
	var properties []string
	for i := range 30 {
		properties = append(properties, fmt.Sprintf(`"field%d":{"title":"Field %d","type":"string","description":"What it is for"}`, i, i))
	}
	return []byte(`{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"namespace":"default","name":"databases","title":"Databases","annotations":{"portal.io/managed-by-location":"cluster:x"},"tags":["composer"],"uid":"u","etag":"e"},"spec":{"type":"infrastructure","owner":"team","parameters":[{"properties":{` + strings.Join(properties, ",") + `}}]},"relations":[{"type":"ownedBy","targetRef":"group:default/team"}]}`)
}

// BenchmarkProject projects a page of twenty entities to a few fields.
func BenchmarkProject(b *testing.B) {
	entity := bigEntity()
	for name, ways := range map[string][]string{
		"Head": {"kind", "metadata.namespace", "metadata.name", "metadata.title"},
		"Spec": {"kind", "metadata.namespace", "metadata.name", "spec.type"},
	} {
		b.Run(name, func(b *testing.B) {
			chosen, err := NewFields(ways)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = buf[:0]
				for range 20 {
					if buf, err = chosen.Project(buf, entity); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
