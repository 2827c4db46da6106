package permission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResourceOf(t *testing.T) {
	cases := map[string]struct {
		reason    string
		ref, json string
		want      *Resource
		fails     bool
	}{
		"Owned": {
			reason: "Owners are the targets of ownedBy relations.",
			ref:    "component:web/site",
			json: `{"kind":"Component","spec":{"owner":"other"},"relations":[` +
				`{"type":"ownedBy","targetRef":"group:default/a"},{"type":"partOf","targetRef":"system:default/s"},{"type":"ownedBy","targetRef":"user:default/b"}]}`,
			want: &Resource{Ref: "component:web/site", Kind: "component", Namespace: "web", Owners: []string{"group:default/a", "user:default/b"}},
		},
		"Unowned": {
			reason: "An entity may have no relations.",
			ref:    "group:default/a", json: `{"kind":"Group"}`,
			want: &Resource{Ref: "group:default/a", Kind: "group", Namespace: "default"},
		},
		"Broken": {
			reason: "The owner of an entity that cannot be decoded is unknown.",
			ref:    "group:default/a", json: `{`,
			fails: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ResourceOf(tc.ref, []byte(tc.json))
			if (err != nil) != tc.fails {
				t.Fatalf("%s\nResourceOf: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nResourceOf: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
