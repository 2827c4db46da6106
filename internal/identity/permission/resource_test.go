package permission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store"
)

func TestResourceOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		entity store.Entity
		want   *Resource
		fails  bool
	}{
		"Owned": {
			reason: "Owners are relations, and only those of that type.",
			entity: store.Entity{
				Ref: "component:web/site",
				JSON: []byte(`{"kind":"Component","spec":{"owner":"other"},"relations":[` +
					`{"type":"ownedBy","targetRef":"group:default/a"},{"type":"partOf","targetRef":"system:default/s"},{"type":"ownedBy","targetRef":"user:default/b"}]}`),
			},
			want: &Resource{Ref: "component:web/site", Kind: "component", Namespace: "web", Owners: []string{"group:default/a", "user:default/b"}},
		},
		"Nobodys": {
			reason: "An entity may have no relations.",
			entity: store.Entity{Ref: "group:default/a", JSON: []byte(`{"kind":"Group"}`)},
			want:   &Resource{Ref: "group:default/a", Kind: "group", Namespace: "default"},
		},
		"Broken": {
			reason: "Of what cannot be read nobody knows the owner.",
			entity: store.Entity{Ref: "group:default/a", JSON: []byte(`{`)},
			fails:  true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ResourceOf(&tc.entity)
			if (err != nil) != tc.fails {
				t.Fatalf("%s\nResourceOf: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nResourceOf: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
