package catalog

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const nameFields = "fields=kind,metadata.name"

func TestRead(t *testing.T) {
	w := newWorld(t)
	cases := map[string]struct {
		reason       string
		method, path string
		body         string
		want         string
	}{
		"All": {
			reason: "A list is sorted by reference.",
			path:   "/entities?fields=metadata.name",
			want:   `[{"metadata":{"name":"demo-api"}},{"metadata":{"name":"Demo-Service"}},{"metadata":{"name":"site"}},{"metadata":{"name":"platform"}},{"metadata":{"name":"root"}},{"metadata":{"name":"shop"}},{"metadata":{"name":"databases"}}]`,
		},
		"Items": {
			reason: "A list can have the shape of an object.",
			path:   "/entities?shape=items&filter=kind=api&" + nameFields,
			want:   `{"items":[{"kind":"API","metadata":{"name":"demo-api"}}]}`,
		},
		"ItemsNone": {
			reason: "An empty list can have the shape of an object.",
			path:   "/entities?shape=items&filter=kind=nosuch",
			want:   `{"items":[]}`,
		},
		"None": {
			reason: "A filter that matches nothing returns an empty list.",
			path:   "/entities?filter=kind=nosuch",
			want:   `[]`,
		},
		"And": {
			reason: "The conditions of a filter are combined with and.",
			path:   "/entities?filter=kind=component,spec.type=service&" + nameFields,
			want:   `[{"kind":"Component","metadata":{"name":"Demo-Service"}}]`,
		},
		"Or": {
			reason: "Several filters are alternatives.",
			path:   "/entities?filter=kind=system&filter=kind=group&fields=kind",
			want:   `[{"kind":"Group"},{"kind":"System"}]`,
		},
		"In": {
			reason: "Several values of one key are alternatives.",
			path:   "/entities?filter=kind=System,kind=GROUP&fields=kind",
			want:   `[{"kind":"Group"},{"kind":"System"}]`,
		},
		"EmptyValue": {
			reason: "A filter can match an empty value.",
			path:   "/entities?filter=metadata.title=&fields=metadata.name",
			want:   `[{"metadata":{"name":"shop"}}]`,
		},
		"Tag": {
			reason: "Tags are values and keys.",
			path:   "/entities?filter=metadata.tags=Go,metadata.tags.demo=true&fields=metadata.name",
			want:   `[{"metadata":{"name":"Demo-Service"}}]`,
		},
		"Relation": {
			reason: "Relations are found by their target.",
			path:   "/entities?filter=relations.ownedBy=group:default/other&fields=metadata.name",
			want:   `[{"metadata":{"name":"site"}}]`,
		},
		"Encoded": {
			reason: "Percent signs are decoded once, and a semicolon is literal.",
			path:   "/entities?filter=metadata.annotations.example.org%2Fkept%3Dyes&fields=metadata.name&x=a;b",
			want:   `[{"metadata":{"name":"Demo-Service"}}]`,
		},
		"Order": {
			reason: "A list can be sorted by several fields; entities without the field are last.",
			path:   "/entities?order=desc:metadata.title&order=asc:metadata.name&filter=kind=component,kind=template,kind=api&fields=metadata.name",
			want:   `[{"metadata":{"name":"site"}},{"metadata":{"name":"Demo-Service"}},{"metadata":{"name":"databases"}},{"metadata":{"name":"demo-api"}}]`,
		},
		"LimitOffset": {
			reason: "A list can be read in parts.",
			path:   "/entities?limit=1&offset=2&fields=metadata.name",
			want:   `[{"metadata":{"name":"site"}}]`,
		},
		"LimitNone": {
			reason: "A limit of zero returns nothing.",
			path:   "/entities?limit=0",
			want:   `[]`,
		},
		"Query": {
			reason: "A query returns the total.",
			path:   "/entities/by-query?filter=kind=component&orderField=metadata.name,desc&offset=1&" + nameFields,
			want:   `{"items":[{"kind":"Component","metadata":{"name":"Demo-Service"}}],"totalItems":2,"pageInfo":{}}`,
		},
		"QueryNoTotal": {
			reason: "A query can exclude the total.",
			path:   "/entities/by-query?totalItems=exclude&filter=kind=api&fields=kind",
			want:   `{"items":[{"kind":"API"}],"totalItems":0,"pageInfo":{}}`,
		},
		"QueryLimitNone": {
			reason: "A query can return only the total.",
			path:   "/entities/by-query?limit=0&filter=kind=component",
			want:   `{"items":[],"totalItems":2,"pageInfo":{}}`,
		},
		"Words": {
			reason: "A search matches the start of words in any order.",
			path:   "/entities/by-query?fullTextFilterTerm=SERV%20dem&fields=metadata.name",
			want:   `{"items":[{"metadata":{"name":"Demo-Service"}}],"totalItems":1,"pageInfo":{}}`,
		},
		"TextInFields": {
			reason: "A search in fields matches inside their values.",
			path:   "/entities/by-query?fullTextFilterTerm=emo&fullTextFilterFields=metadata.name,metadata.title&fields=metadata.name",
			want:   `{"items":[{"metadata":{"name":"demo-api"}},{"metadata":{"name":"Demo-Service"}}],"totalItems":2,"pageInfo":{}}`,
		},
		"Post": {
			reason: "A POST query has a predicate, an order and fields.",
			method: http.MethodPost, path: "/entities/by-query",
			body: `{"query":{"$not":{"kind":{"$in":["location","group","template","system"]}}},"orderBy":[{"field":"metadata.name","order":"desc"}],"fields":["metadata.name"],"limit":5}`,
			want: `{"items":[{"metadata":{"name":"site"}},{"metadata":{"name":"Demo-Service"}},{"metadata":{"name":"demo-api"}}],"totalItems":3,"pageInfo":{}}`,
		},
		"PostPrefix": {
			reason: "A predicate can have a prefix and a relation.",
			method: http.MethodPost, path: "/entities/by-query",
			body: `{"query":{"$all":[{"metadata.name":{"$hasPrefix":"demo"}},{"relations":{"$contains":{"type":"providesApi"}}}]},"fields":["kind"]}`,
			want: `{"items":[{"kind":"Component"}],"totalItems":1,"pageInfo":{}}`,
		},
		"PostText": {
			reason: "A POST query can have a search.",
			method: http.MethodPost, path: "/entities/by-query",
			body: `{"fullTextFilter":{"term":"hop","fields":["metadata.title"]},"fields":["kind"],"totalItems":"exclude"}`,
			want: `{"items":[{"kind":"Component"}],"totalItems":0,"pageInfo":{}}`,
		},
		"PostNothing": {
			reason: "All parameters of a POST query are optional.",
			method: http.MethodPost, path: "/entities/by-query", body: `{"limit":0}`,
			want: `{"items":[],"totalItems":7,"pageInfo":{}}`,
		},
		"Refs": {
			reason: "Entities are in the order of the references, with null for missing ones.",
			method: http.MethodPost, path: "/entities/by-refs",
			body: `{"entityRefs":["Component:web/SITE","api:default/none","component:demo-service","nonsense","","component:web/site","a:b/c\u0000"],"fields":["metadata.name"]}`,
			want: `{"items":[{"metadata":{"name":"site"}},null,{"metadata":{"name":"Demo-Service"}},null,null,{"metadata":{"name":"site"}},null]}`,
		},
		"RefsFilter": {
			reason: "An entity that does not match the filter is null.",
			method: http.MethodPost, path: "/entities/by-refs?filter=spec.type=website&filter=kind=api&fields=kind",
			body: `{"entityRefs":["component:web/site","component:default/demo-service","api:default/demo-api"]}`,
			want: `{"items":[{"kind":"Component"},null,{"kind":"API"}]}`,
		},
		"RefsQuery": {
			reason: "An entity that does not match the predicate is null.",
			method: http.MethodPost, path: "/entities/by-refs",
			body: `{"entityRefs":["component:web/site","component:default/demo-service"],"query":{"spec.type":"service"},"fields":["kind"]}`,
			want: `{"items":[null,{"kind":"Component"}]}`,
		},
		"RefsNone": {
			reason: "An empty list of references returns an empty list.",
			method: http.MethodPost, path: "/entities/by-refs", body: `{"entityRefs":[]}`,
			want: `{"items":[]}`,
		},
		"Facets": {
			reason: "Facets have values as written, with counts.",
			path:   "/entity-facets?facet=kind&facet=spec.type&facet=none&filter=kind=component&filter=kind=api",
			want:   `{"facets":{"kind":[{"value":"API","count":1},{"value":"Component","count":2}],"none":[],"spec.type":[{"value":"openapi","count":1},{"value":"service","count":1},{"value":"website","count":1}]}}`,
		},
		"FacetsPost": {
			reason: "Facets can have a predicate.",
			method: http.MethodPost, path: "/entity-facets", body: `{"facets":["kind"],"query":{"kind":"api"}}`,
			want: `{"facets":{"kind":[{"value":"API","count":1}]}}`,
		},
		"FacetsOfText": {
			reason: "Facets count only entities that a search finds.",
			path:   "/entity-facets?facet=kind&fullTextFilterTerm=demo%20serv",
			want:   `{"facets":{"kind":[{"value":"Component","count":1}]}}`,
		},
		"FacetsOfTextInFields": {
			reason: "Facets can have a search in a body, and in certain fields.",
			method: http.MethodPost, path: "/entity-facets", body: `{"facets":["kind"],"query":{"kind":"component"},"fullTextFilter":{"term":"SERV","fields":["spec.type"]}}`,
			want: `{"facets":{"kind":[{"value":"Component","count":1}]}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			got := w.do(method, tc.path, tc.body)
			if got.status != http.StatusOK {
				t.Fatalf("%s\n%s %s: got %d: %s", tc.reason, method, tc.path, got.status, got.body)
			}
			if diff := cmp.Diff(tc.want, got.body); diff != "" {
				t.Errorf("%s\n%s %s: -want +got:\n%s", tc.reason, method, tc.path, diff)
			}
			if ct := got.header.Get("Content-Type"); ct != "application/json; charset=utf-8" {
				t.Errorf("%s: Content-Type is %q", tc.path, ct)
			}
		})
	}
}

func TestReadOne(t *testing.T) {
	w := newWorld(t)
	type entity struct {
		Kind      string
		Metadata  struct{ Name, Namespace, UID, ETag string }
		Relations []struct{ Type, TargetRef string }
	}
	byName := w.get("/entities/by-name/COMPONENT/Default/demo-SERVICE")
	e := decode[entity](t, byName)
	if e.Metadata.Name != "Demo-Service" || e.Metadata.Namespace != "default" || len(e.Relations) != 3 {
		t.Errorf("by-name returned %s", byName.body)
	}
	if got := byName.header.Get("Etag"); got != `"`+e.Metadata.ETag+`"` {
		t.Errorf("ETag is %s, but the entity has the etag %s", got, e.Metadata.ETag)
	}
	byUID := w.get("/entities/by-uid/" + e.Metadata.UID)
	if byUID.body != byName.body || byUID.header.Get("Etag") != byName.header.Get("Etag") {
		t.Errorf("by-uid returned %d %s, want the same as by-name", byUID.status, byUID.body)
	}
	type ancestry struct {
		RootEntityRef string
		Items         []struct {
			Entity           entity
			ParentEntityRefs []string
		}
	}
	line := decode[ancestry](t, w.get("/entities/by-name/component/default/demo-service/ancestry"))
	if line.RootEntityRef != "component:default/demo-service" || len(line.Items) != 2 || line.Items[1].Entity.Kind != "Location" {
		t.Fatalf("ancestry is %+v", line)
	}
	if got := line.Items[0].ParentEntityRefs; !cmp.Equal(got, []string{"location:default/root"}) {
		t.Errorf("parents are %q", got)
	}
	if got := line.Items[1].ParentEntityRefs; got == nil || len(got) != 0 {
		t.Errorf("parents of the root are %#v, want an empty list", got)
	}
}

func TestKept(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{
		"/entities/by-name/component/default/demo-service",
		"/entities",
		"/entities?limit=3",
		"/entities?limit=2000",
		"/entities/by-query?limit=2",
		"/entity-facets?facet=kind",
		"/feed.yaml",
		"/entities/by-name/component/default/demo-service/ancestry",
	} {
		first := w.get(path)
		tag := first.header.Get("Etag")
		if first.status != http.StatusOK || len(tag) < 10 || strings.HasPrefix(tag, "W/") {
			t.Errorf("%s returned %d with ETag %q", path, first.status, tag)
			continue
		}
		if again := w.get(path, "If-None-Match", tag); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s with its ETag returned %d %s, want 304", path, again.status, again.body)
		}
		head := w.do(http.MethodHead, path, "")
		if head.status != http.StatusOK || head.body != "" || head.header.Get("Etag") != tag {
			t.Errorf("HEAD %s returned %d with ETag %s", path, head.status, head.header.Get("Etag"))
		}
	}
	t.Run("Shapes", func(t *testing.T) {
		// Different responses never have the same tag.
		tags := map[string]string{}
		for _, path := range []string{"/entities", "/entities?shape=items", "/entities?fields=kind", "/entities?fields=kind,metadata", "/entities?order=desc:kind", "/entities?limit=1", "/entities/by-query", "/entities/by-query?limit=1", "/entities/by-query?totalItems=exclude", "/feed.yaml"} {
			tag := w.get(path).header.Get("Etag")
			if other, ok := tags[tag]; ok {
				t.Errorf("%s and %s have the same ETag", path, other)
			}
			tags[tag] = path
		}
	})
	t.Run("Change", func(t *testing.T) {
		paths := []string{"/entities", "/entities?limit=3", "/entities/by-query", "/feed.yaml"}
		var tags []string
		for _, path := range paths {
			tags = append(tags, w.get(path).header.Get("Etag"))
		}
		w.put("apiVersion: portal.io/v1alpha1\nkind: API\nmetadata: { name: demo-api, title: New }\nspec: { type: openapi, lifecycle: production, owner: platform, definition: \"{}\" }\n")
		for i, path := range paths {
			if got := w.get(path, "If-None-Match", tags[i]); got.status != http.StatusOK {
				t.Errorf("%s after a change returned %d, want 200", path, got.status)
			}
		}
	})
	t.Run("Gzip", func(t *testing.T) {
		got := w.get("/entities", "Accept-Encoding", "gzip")
		if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Vary") == "" {
			t.Errorf("headers are %v, want gzip", got.header)
		}
		if again := w.get("/entities", "Accept-Encoding", "gzip", "If-None-Match", got.header.Get("Etag")); again.status != http.StatusNotModified {
			t.Errorf("compressed response with its ETag returned %d, want 304", again.status)
		}
	})
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	type entity struct{ Metadata struct{ UID string } }
	e := decode[entity](t, w.get("/entities/by-name/component/web/site"))
	path := "/entities/by-uid/" + e.Metadata.UID
	denied := w.do(http.MethodDelete, path, "", "Authorization", "guest")
	if denied.status != http.StatusForbidden || !strings.Contains(denied.body, "catalog.entity.delete") {
		t.Errorf("DELETE by a guest returned %d %s, want 403", denied.status, denied.body)
	}
	if got := w.get(path); got.status != http.StatusOK {
		t.Fatalf("entity after a denied DELETE: %d %s; want 200", got.status, got.body)
	}
	if got := w.do(http.MethodDelete, path, ""); got.status != http.StatusNoContent || got.body != "" {
		t.Errorf("DELETE by a user returned %d %s, want 204", got.status, got.body)
	}
	if got := w.get(path); got.status != http.StatusNotFound {
		t.Errorf("entity after DELETE: %d %s; want 404", got.status, got.body)
	}
	if got := w.do(http.MethodDelete, path, ""); got.status != http.StatusNoContent {
		t.Errorf("second DELETE returned %d %s, want 204", got.status, got.body)
	}
	if got := w.do(http.MethodDelete, path, "", "Authorization", "guest"); got.status != http.StatusForbidden {
		t.Errorf("second DELETE by a guest returned %d %s, want 403", got.status, got.body)
	}
}
