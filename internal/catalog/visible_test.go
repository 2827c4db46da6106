package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/permission"
)

// TestVisible allows a team to read only its own entities and groups, and checks
// every endpoint.
func TestVisible(t *testing.T) {
	w := newWorld(t,
		config.PermissionRule{Permissions: []string{permission.EntityRead, permission.EntityDelete}, Owners: []string{"own"}, Allow: true},
		config.PermissionRule{Permissions: []string{permission.EntityRead}, Kinds: []string{"group"}, Allow: true},
		config.PermissionRule{Permissions: []string{"catalog.entity.*"}},
	)
	const site, service = "/entities/by-name/component/web/site", "/entities/by-name/component/default/demo-service"
	cases := map[string]struct {
		reason, caller, method, path, body string
		status                             int
		want                               string
	}{
		"List": {
			reason: "A list has the entities that the caller may read.",
			path:   "/entities?fields=metadata.name",
			want:   `[{"metadata":{"name":"demo-api"}},{"metadata":{"name":"Demo-Service"}},{"metadata":{"name":"platform"}},{"metadata":{"name":"shop"}},{"metadata":{"name":"databases"}}]`,
		},
		"ListOther": {
			reason: "Another caller sees other entities.",
			caller: "other", path: "/entities?fields=metadata.name",
			want: `[{"metadata":{"name":"site"}},{"metadata":{"name":"platform"}}]`,
		},
		"ListGuest": {
			reason: "A guest owns nothing.",
			caller: "guest", path: "/entities?fields=kind",
			want: `[{"kind":"Group"}]`,
		},
		"Filter": {
			reason: "A filter cannot find hidden entities.",
			caller: "other", path: "/entities?filter=kind=api&filter=kind=group&fields=kind",
			want: `[{"kind":"Group"}]`,
		},
		"Total": {
			reason: "Hidden entities are not counted.",
			caller: "other", path: "/entities/by-query?limit=0",
			want: `{"items":[],"totalItems":2,"pageInfo":{}}`,
		},
		"Facets": {
			reason: "Values of hidden entities are not counted.",
			caller: "other", path: "/entity-facets?facet=kind",
			want: `{"facets":{"kind":[{"value":"Component","count":1},{"value":"Group","count":1}]}}`,
		},
		"Refs": {
			reason: "A hidden entity is null in by-refs.",
			method: "POST", path: "/entities/by-refs", body: `{"entityRefs":["component:web/site","group:default/platform","component:default/demo-service"],"fields":["kind"]}`,
			want: `{"items":[null,{"kind":"Group"},{"kind":"Component"}]}`,
		},
		"Name": {
			reason: "A hidden entity is not found by name.",
			path:   site, status: 404,
			want: "No entity named 'site' found, with kind 'component' in namespace 'web'",
		},
		"NameOwn": {reason: "The owner sees the entity.", caller: "other", path: site, status: 200},
		"Ancestry": {
			reason: "The ancestry of a hidden entity is not found.",
			path:   site + "/ancestry", status: 404,
			want: "No such entity component:web/site",
		},
		"Feed": {
			reason: "A hidden entity is not in the feed.",
			caller: "guest", path: "/feed.yaml?filter=kind=group&filter=kind=api",
			want: "---\napiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata:\n  name: platform\n  namespace: default\nspec:\n  type: team\n  children: []\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.caller == "" {
				tc.caller = "platform"
			}
			if tc.method == "" {
				tc.method = http.MethodGet
			}
			if tc.status == 0 {
				tc.status = http.StatusOK
			}
			got := w.do(tc.method, tc.path, tc.body, "Authorization", tc.caller)
			if got.status != tc.status {
				t.Fatalf("%s\n%s: got %d %s", tc.reason, tc.path, got.status, got.body)
			}
			if tc.status != http.StatusOK {
				var body struct{ Error struct{ Message string } }
				if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Error.Message != tc.want {
					t.Errorf("%s\n%s: got %s, want %s", tc.reason, tc.path, got.body, tc.want)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got.body); tc.want != "" && diff != "" {
				t.Errorf("%s\n%s: -want +got:\n%s", tc.reason, tc.path, diff)
			}
		})
	}

	t.Run("AncestryEnds", func(t *testing.T) {
		got := w.get(service + "/ancestry")
		if got.status != http.StatusOK || strings.Contains(got.body, "location:default/root") || !strings.Contains(got.body, `"parentEntityRefs":[]`) {
			t.Errorf("ancestry is %d %s, want it without the hidden parent", got.status, got.body)
		}
	})
	t.Run("ForeignCursor", func(t *testing.T) {
		first := decode[page](t, w.get("/entities/by-query?limit=1"))
		second := decode[page](t, w.get("/entities/by-query?limit=10&cursor="+first.PageInfo.NextCursor, "Authorization", "other"))
		if diff := cmp.Diff([]string{"web/site", "default/platform"}, second.names()); diff != "" || second.TotalItems != 2 {
			t.Errorf("page of another caller with the cursor has the total %d, -want +got:\n%s", second.TotalItems, diff)
		}
	})
	t.Run("FacetsAtOnce", func(t *testing.T) {
		// Concurrent requests of different callers after a change are not merged.
		var wg sync.WaitGroup
		for i := range 20 {
			w.put(fmt.Sprintf("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: hidden, description: v%d }\nspec: { type: service, lifecycle: production, owner: missing }\n", i))
			for caller, want := range map[string]string{
				"other": `{"facets":{"kind":[{"value":"Component","count":1},{"value":"Group","count":1}]}}`,
				"guest": `{"facets":{"kind":[{"value":"Group","count":1}]}}`,
			} {
				for range 4 {
					wg.Go(func() {
						if got := w.get("/entity-facets?facet=kind", "Authorization", caller); got.body != want {
							t.Errorf("facets of %s are %s, want %s", caller, got.body, want)
						}
					})
				}
			}
			wg.Wait()
		}
	})
	t.Run("Delete", func(t *testing.T) {
		type entity struct{ Metadata struct{ UID string } }
		uid := decode[entity](t, w.get(site, "Authorization", "other")).Metadata.UID
		path := "/entities/by-uid/" + uid
		hidden, missing := w.do(http.MethodDelete, path, ""), w.do(http.MethodDelete, "/entities/by-uid/none", "")
		if hidden.status != missing.status {
			t.Errorf("status of a hidden entity is %d, of a missing one %d; want the same", hidden.status, missing.status)
		}
		if got := w.get(site, "Authorization", "other"); got.status != http.StatusOK {
			t.Fatalf("entity of another owner was removed: %d", got.status)
		}
		if got := w.do(http.MethodDelete, path, "", "Authorization", "other"); got.status != http.StatusNoContent {
			t.Errorf("DELETE by the owner returned %d %s, want 204", got.status, got.body)
		}
		if got := w.get(site, "Authorization", "other"); got.status != http.StatusNotFound {
			t.Errorf("entity after DELETE: %d; want 404", got.status)
		}
	})
}

// TestPassingIsCurrent changes an entity between its lookup and the filter
// check: the response has the version that matches.
func TestPassingIsCurrent(t *testing.T) {
	w := newEmptyWorld(t)
	const before = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: a }\nspec: { type: secret }\n"
	w.put(before)
	old, err := w.store.GetMany(t.Context(), []string{"component:default/a"})
	if err != nil {
		t.Fatal(err)
	}
	w.put(strings.Replace(before, "secret", "public", 1))
	passes, err := New(w.store, nil).passing(t.Context(), old, filter.In("spec.type", "public"))
	if err != nil {
		t.Fatal(err)
	}
	if e := passes["component:default/a"]; e == nil || strings.Contains(string(e.JSON), "secret") {
		t.Errorf("entity is %+v, want the version that matches", e)
	}
}
