package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestWalk reads pages of several lengths by cursor, and compares them with one
// long page.
func TestWalk(t *testing.T) {
	w := newEmptyWorld(t)
	w.many(40)
	orders := []string{"", "&orderField=metadata.title,asc", "&orderField=metadata.title,desc", "&orderField=metadata.name,desc&orderField=metadata.title", "&orderField=nothing"}
	all := map[string][]string{}
	for _, o := range orders {
		all[o] = decode[page](t, w.get("/entities/by-query?limit=1000"+o)).names()
	}
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.SampledFrom(orders).Draw(rt, "order")
		offset := rapid.IntRange(0, 3).Draw(rt, "offset")
		want := all[order][offset:]
		limit := func() int { return rapid.IntRange(1, 15).Draw(rt, "limit") }

		first := decode[page](t, w.get(fmt.Sprintf("/entities/by-query?limit=%d&offset=%d%s", limit(), offset, order)))
		if first.PageInfo.PrevCursor != "" {
			rt.Fatal("first page has a previous cursor")
		}
		got, p := first.names(), first
		for p.PageInfo.NextCursor != "" {
			p = decode[page](t, w.get(fmt.Sprintf("/entities/by-query?limit=%d&cursor=%s", limit(), p.PageInfo.NextCursor)))
			if p.TotalItems != 40 {
				rt.Fatalf("total is %d, want 40", p.TotalItems)
			}
			if p.PageInfo.PrevCursor == "" {
				rt.Fatal("later page has no previous cursor")
			}
			got = append(got, p.names()...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("forward pages: -want +got:\n%s", diff)
		}
		// Read back from the last page to the beginning, or beyond an offset.
		got = p.names()
		for p.PageInfo.PrevCursor != "" {
			p = decode[page](t, w.get(fmt.Sprintf("/entities/by-query?limit=%d&cursor=%s", limit(), p.PageInfo.PrevCursor)))
			if p.PageInfo.NextCursor == "" {
				rt.Fatal("earlier page has no next cursor")
			}
			got = append(p.names(), got...)
		}
		if !slices.Equal(got, want) && !slices.Equal(got, all[order]) {
			rt.Fatalf("backward pages: -want +got:\n%s", cmp.Diff(want, got))
		}
	})
}

func TestWalkBack(t *testing.T) {
	w := newEmptyWorld(t)
	w.many(9)
	for _, start := range []string{"limit=3", "limit=3&offset=2", "limit=3&orderField=metadata.title,desc"} {
		first := decode[page](t, w.get("/entities/by-query?"+start))
		second := decode[page](t, w.get("/entities/by-query?limit=3&cursor="+first.PageInfo.NextCursor))
		back := decode[page](t, w.get("/entities/by-query?limit=3&cursor="+second.PageInfo.PrevCursor))
		if diff := cmp.Diff(first.names(), back.names()); diff != "" {
			t.Errorf("%s: page before the second: -want +got:\n%s", start, diff)
		}
		if back.PageInfo.PrevCursor != "" || back.PageInfo.NextCursor != first.PageInfo.NextCursor {
			t.Errorf("%s: page before the second has %+v, want %+v", start, back.PageInfo, first.PageInfo)
		}
	}
}

// TestWalkChanges reads pages while entities are added and removed: entities
// that stay are returned once.
func TestWalkChanges(t *testing.T) {
	w := newEmptyWorld(t)
	w.many(9)
	first := decode[page](t, w.get("/entities/by-query?limit=4"))
	w.put("apiVersion: portal.io/v1alpha1\nkind: API\nmetadata: { name: early }\nspec: {}\n")
	rest := decode[page](t, w.get("/entities/by-query?limit=10&cursor="+first.PageInfo.NextCursor))
	got := append(first.names(), rest.names()...)
	if len(got) != 9 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 9 {
		t.Errorf("names are %q, want 9 different ones", got)
	}
}

func TestPostCursor(t *testing.T) {
	w := newEmptyWorld(t)
	w.many(9)
	post := func(body string) page {
		return decode[page](t, w.do(http.MethodPost, "/entities/by-query", body))
	}
	first := post(`{"query":{"metadata.namespace":"ns1"},"limit":2,"orderBy":[{"field":"metadata.name","order":"desc"}]}`)
	if diff := cmp.Diff([]string{"ns1/c002", "ns1/c001"}, first.names()); diff != "" {
		t.Fatalf("first page: -want +got:\n%s", diff)
	}
	cursor, _ := json.Marshal(first.PageInfo.NextCursor)
	for name, second := range map[string]page{
		"Post":      post(fmt.Sprintf(`{"cursor":%s,"limit":2}`, cursor)),
		"Same":      post(fmt.Sprintf(`{"cursor":%s,"query":{"metadata.namespace":"NS1"}}`, cursor)),
		"Get":       decode[page](t, w.get("/entities/by-query?cursor="+first.PageInfo.NextCursor)),
		"GetFilter": decode[page](t, w.get("/entities/by-query?filter=metadata.namespace=ns1&orderField=metadata.name,desc&cursor="+first.PageInfo.NextCursor)),
	} {
		if diff := cmp.Diff([]string{"ns1/c000"}, second.names()); diff != "" || second.TotalItems != 3 {
			t.Errorf("%s: total %d, -want +got:\n%s", name, second.TotalItems, diff)
		}
	}
	for _, params := range []string{"filter=metadata.namespace=ns2", "orderField=metadata.name", "fullTextFilterTerm=x"} {
		got := w.get("/entities/by-query?" + params + "&cursor=" + first.PageInfo.NextCursor)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "Malformed cursor: created by a query with another") {
			t.Errorf("%s with the cursor of another query returned %d %s, want 400", params, got.status, got.body)
		}
	}
}

// next returns the parameters of the page that a Link header refers to.
func next(t testing.TB, r response) string {
	t.Helper()
	link := r.header.Get("Link")
	if link == "" {
		return ""
	}
	address, isNext := strings.CutSuffix(link, `>; rel="next"`)
	params, isListing := strings.CutPrefix(address, "</entities?")
	if !isNext || !isListing {
		t.Fatalf("Link header is %q", link)
	}
	return "/entities?" + params
}

func TestWalkListing(t *testing.T) {
	w := newEmptyWorld(t)
	w.many(20)
	type items []struct {
		Metadata struct{ Namespace, Name string }
	}
	for _, params := range []string{"limit=7", "limit=7&order=desc:metadata.title", "filter=metadata.namespace=ns0&limit=2&offset=1", "limit=20", "limit=19"} {
		q, err := url.ParseQuery(params)
		if err != nil {
			t.Fatal(err)
		}
		q.Del("limit")
		want := decode[items](t, w.get("/entities?"+q.Encode()))
		if q.Has("offset") {
			want = decode[items](t, w.get("/entities?limit=1000&"+q.Encode()))
		}
		var got items
		pages := 0
		for path := "/entities?" + params; path != ""; pages++ {
			r := w.get(path)
			got = append(got, decode[items](t, r)...)
			path = next(t, r)
			if strings.Contains(path, "offset") || pages > 20 {
				t.Fatalf("page after %s is %s", params, path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", params, diff)
		}
	}
	t.Run("Mixed", func(t *testing.T) {
		path := next(t, w.get("/entities?limit=2&filter=kind=component"))
		if got := w.get(strings.Replace(path, "kind=component", "kind=api", 1)); got.status != http.StatusBadRequest {
			t.Errorf("cursor with another filter returned %d %s, want 400", got.status, got.body)
		}
		if got := decode[items](t, w.get(strings.Replace(path, "limit=2", "limit=3", 1))); len(got) != 3 {
			t.Errorf("cursor with another limit returned %d entities, want 3", len(got))
		}
		if got := decode[items](t, w.get(strings.Replace(path, "limit=2&", "", 1))); len(got) != 2 {
			t.Errorf("cursor without a limit returned %d entities, want 2", len(got))
		}
	})
}

// TestWalkLong reads pages that are too long for memory.
func TestWalkLong(t *testing.T) {
	if testing.Short() {
		t.Skip("the test needs several thousand entities")
	}
	w := newEmptyWorld(t)
	w.many(2300)
	type items []struct {
		Metadata struct{ Namespace, Name string }
	}
	want := decode[items](t, w.get("/entities?order=desc:metadata.name"))
	var got items
	pages := 0
	for path := "/entities?limit=1100&order=desc:metadata.name"; path != ""; pages++ {
		r := w.get(path)
		got = append(got, decode[items](t, r)...)
		path = next(t, r)
	}
	if diff := cmp.Diff(want, got); diff != "" || pages != 3 || len(want) != 2300 {
		t.Errorf("%d pages, %d entities, -want +got:\n%s", pages, len(want), diff)
	}
	first := decode[struct {
		Items    items
		PageInfo struct{ NextCursor string }
	}](t, w.get("/entities/by-query?limit=5000&fields=metadata.name"))
	if len(first.Items) != maxBuffered || first.PageInfo.NextCursor == "" {
		t.Errorf("by-query returned %d entities and the cursor %q", len(first.Items), first.PageInfo.NextCursor)
	}
	refs := make([]string, 0, 1300)
	for i := range 1300 {
		refs = append(refs, fmt.Sprintf("component:ns%d/c%03d", i%3, i/3), "component:ns9/none")
	}
	body, _ := json.Marshal(map[string]any{"entityRefs": refs, "fields": []string{"metadata.name"}})
	found := decode[struct{ Items []*json.RawMessage }](t, w.do(http.MethodPost, "/entities/by-refs", string(body)))
	if len(found.Items) != 2600 || string(*found.Items[2598]) != `{"metadata":{"name":"c433"}}` || found.Items[2599] != nil {
		t.Errorf("by-refs returned %d entities", len(found.Items))
	}
}
