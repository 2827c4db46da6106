package catalog

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

// search sends a search.
func (w *world) search(params string, more ...string) response {
	w.t.Helper()
	return w.at("/api/search/query?"+params, more...)
}

// results returns the references of a page of results.
func (p resultPage) results() []string {
	var refs []string
	for _, r := range p.Results {
		refs = append(refs, r.Document.EntityRef)
	}
	return refs
}

func TestSearch(t *testing.T) {
	w := newWorld(t)
	w.put(`
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata: { name: shop-update, title: Change a shop, tags: [shop, day-2], annotations: { backstage.io/template-purpose: update } }
spec: { type: infrastructure, owner: platform, parameters: [ { properties: { title: { type: string } } } ], steps: [ { id: a, action: "debug:log" } ] }
---
apiVersion: backstage.io/v1alpha1
kind: Resource
metadata: { name: shop-db, namespace: web, description: "Orders <b>of</b> the shop" }
spec: { type: database, owner: platform, system: shop, readiness: not ready, readinessSince: "2026-01-02T03:04:05Z" }
---
apiVersion: example.org/v1
kind: Odd
metadata: { name: shop-odd }
spec: { type: [x], owner: { a: b }, lifecycle: 1 }
`)
	cases := map[string]struct {
		reason string
		params string
		want   []string
	}{
		"Ranks":    {"Exact names and titles come first, then prefixes, then words; then kinds, and Templates that update last.", "term=shop", []string{"component:web/site", "system:default/shop", "resource:web/shop-db", "odd:default/shop-odd", "template:default/shop-update", "component:default/demo-service"}},
		"Typo":     {"Typos are tolerated.", "term=databsaes", []string{"template:default/databases", "resource:web/shop-db"}},
		"Type":     {"The stock client sends types and filters with indexes.", "term=shop&types%5B0%5D=software-catalog&filters%5Bkind%5D=Resource", []string{"resource:web/shop-db"}},
		"Values":   {"A filter may have several values.", "term=shop&filters[kind][0]=template&filters[kind][1]=SYSTEM", []string{"system:default/shop", "template:default/shop-update"}},
		"Filters":  {"All filters must pass.", "term=shop&filters[kind]=component&filters[lifecycle]=production&filters[namespace]=web&filters[componentType]=website", []string{"component:web/site"}},
		"NoValue":  {"A filter without a value passes everything.", "term=shop&filters[kind]=&filters[readiness]=not ready", []string{"resource:web/shop-db"}},
		"Tags":     {"Tags can be filtered by.", "term=change&filters[tags]=day-2", []string{"template:default/shop-update"}},
		"Empty":    {"Without a term nothing is found.", "term=", nil},
		"Missing":  {"The term may be missing.", "", nil},
		"Spaces":   {"Spaces are no term.", "term=%20%09", nil},
		"Nothing":  {"A term may match nothing.", "term=elephant", nil},
		"NoSubstr": {"A substring is no match.", "term=tabase", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			p := decode[resultPage](t, w.search(strings.ReplaceAll(tc.params, " ", "%20")))
			if diff := cmp.Diff(tc.want, p.results()); diff != "" || p.NumberOfResults != len(tc.want) || p.Results == nil {
				t.Errorf("%s The number of results is %d (-want +got):\n%s", tc.reason, p.NumberOfResults, diff)
			}
		})
	}
	w.t = t
	documents := map[string]string{
		"term=shop-db": `{"results":[{"type":"software-catalog","document":{"title":"shop-db","text":"Orders \u003cb\u003eof\u003c/b\u003e the shop","location":"/catalog/web/resource/shop-db","entityRef":"resource:web/shop-db",` +
			`"kind":"Resource","namespace":"web","name":"shop-db","componentType":"database","type":"database","lifecycle":"","owner":"platform","system":"shop","readiness":"not ready","readinessSince":"2026-01-02T03:04:05Z"},"rank":1}],"numberOfResults":1}`,
		"term=shop-update": `{"results":[{"type":"software-catalog","document":{"title":"Change a shop","text":"","location":"/catalog/default/template/shop-update","entityRef":"template:default/shop-update",` +
			`"kind":"Template","namespace":"default","name":"shop-update","componentType":"infrastructure","type":"infrastructure","lifecycle":"","owner":"platform","purpose":"update","tags":["shop","day-2"]},"rank":1}],"numberOfResults":1}`,
		"term=shop-odd": `{"results":[{"type":"software-catalog","document":{"title":"shop-odd","text":"","location":"/catalog/default/odd/shop-odd","entityRef":"odd:default/shop-odd",` +
			`"kind":"Odd","namespace":"default","name":"shop-odd","componentType":"other","type":"other","lifecycle":"","owner":""},"rank":1}],"numberOfResults":1}`,
	}
	for params, want := range documents {
		if diff := cmp.Diff(want, w.search(params).body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", params, diff)
		}
	}
}

func TestSearchPages(t *testing.T) {
	w := newEmptyWorld(t)
	w.many(60)
	first := decode[resultPage](t, w.search("term=component&pageLimit=25"))
	second := decode[resultPage](t, w.search("term=component&pageLimit=25&pageCursor="+first.NextPageCursor))
	third := decode[resultPage](t, w.search("term=component&pageLimit=25&pageCursor="+second.NextPageCursor))
	seen := map[string]bool{}
	for i, p := range []resultPage{first, second, third} {
		for j, r := range p.Results {
			if seen[r.Document.EntityRef] || r.Rank != 25*i+j+1 {
				t.Errorf("result %d of page %d is %s with rank %d", j, i, r.Document.EntityRef, r.Rank)
			}
			seen[r.Document.EntityRef] = true
		}
	}
	if len(seen) != 60 || first.NumberOfResults != 60 || first.PreviousPageCursor != "" || third.NextPageCursor != "" {
		t.Errorf("%d results of %d; first page %q, last page %q", len(seen), first.NumberOfResults, first.PreviousPageCursor, third.NextPageCursor)
	}
	if diff := cmp.Diff(first, decode[resultPage](t, w.search("term=component&pageLimit=25&pageCursor="+second.PreviousPageCursor))); diff != "" {
		t.Errorf("previous page (-want +got):\n%s", diff)
	}
	tag := w.search("term=component").header.Get("Etag")
	if r := w.search("term=component", "If-None-Match", tag); r.status != 304 {
		t.Errorf("an unchanged search is %d", r.status)
	}
	query := decode[page](t, w.get("/entities/by-query?limit=1")).PageInfo.NextCursor
	for name, cursor := range map[string]string{
		"of another term": "term=components&pageCursor=" + first.NextPageCursor, "of another filter": "term=component&filters[kind]=api&pageCursor=" + first.NextPageCursor,
		"of a query": "term=component&pageCursor=" + query, "forged": "term=component&pageCursor=" + first.NextPageCursor[:len(first.NextPageCursor)-4] + "AAAA",
		"of Backstage": "term=component&pageCursor=MQ==", "no text": "term=component&pageCursor=%ff",
	} {
		if r := w.search(cursor); r.status != 400 || !strings.Contains(r.body, "InputError") {
			t.Errorf("cursor that is %s returned %d: %s", name, r.status, r.body)
		}
	}
}

func TestSearchHostile(t *testing.T) {
	w := newWorld(t)
	cases := map[string]struct {
		reason, params string
		status         int
		text           string
	}{
		"Long":     {"A term has at most 256 characters.", "term=" + strings.Repeat("%C3%A4", 257), 400, `The term length \"257\" is greater than \"256\"`},
		"Longest":  {"As many are allowed.", "term=" + strings.Repeat("%C3%A4", 256), 200, `"results":[]`},
		"Words":    {"A term has at most eight words.", "term=" + strings.Repeat("a+", 9), 400, "it has 9 words, but may have 8"},
		"Eight":    {"Eight words are allowed.", "term=" + strings.Repeat("a+", 8), 200, `"rank":1`},
		"NUL":      {"A term has no NUL.", "term=a%00", 400, "NUL"},
		"Bytes":    {"A term is UTF-8.", "term=%ff", 400, "not UTF-8"},
		"Twice":    {"There is one term.", "term=a&term=b", 400, "request/query/term must be string"},
		"Limit":    {"A page has at most 100 results.", "term=a&pageLimit=101", 400, `The page limit \"101\" is greater than \"100\"`},
		"Negative": {"A limit is not negative.", "term=a&pageLimit=-1", 400, "must be >= 0"},
		"Zero":     {"As in Backstage, zero is the default.", "term=shop&pageLimit=0", 200, `"rank":2`},
		"NotOne":   {"A limit is a number.", "term=a&pageLimit=x", 400, "must be integer"},
		"Type":     {"Other types are unknown.", "term=a&types[0]=techdocs", 400, "only software-catalog can be searched"},
		"Filter":   {"Other filters are unknown.", "term=a&filters[spec.parameters]=x", 400, "Invalid filter"},
		"Deep":     {"Filters are not nested.", "term=a&filters[kind][0][1]=x", 400, "Invalid parameter"},
		"Bare":     {"A filter has a name.", "term=a&filters=x", 400, "Invalid filter"},
		"FilterNo": {"Values have no NUL.", "term=a&filters[kind]=x%00", 400, "NUL"},
		"Many":     {"A search has a limited number of conditions.", "term=a" + strings.Repeat("&filters[tags]=x", 1001), 400, "InputError"},
		"SQL":      {"A term is a parameter.", "term=" + url.QueryEscape("' OR 1=1 --"), 200, `"numberOfResults":0`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			if r := w.search(tc.params); r.status != tc.status || !strings.Contains(r.body, tc.text) {
				t.Errorf("%s Response is %d %.500s, want %d with %s", tc.reason, r.status, r.body, tc.status, tc.text)
			}
		})
	}
}

// TestSearchVisible checks that callers find only what they may read, and learn nothing of
// the words of other entities.
func TestSearchVisible(t *testing.T) {
	hide := config.PermissionRule{Who: []string{"group:default/others"}, Permissions: []string{"catalog.entity.read"}, Namespaces: []string{"hidden"}}
	w := newWorld(t, hide)
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Component\nmetadata: { name: skunkworks-%d, namespace: hidden, title: Skunkworks %[1]d, description: rocketry }\nspec: { type: x, lifecycle: y, owner: z }\n", i)
	}
	b.WriteString("---\napiVersion: v1\nkind: Component\nmetadata: { name: rocket, description: rocketri }\nspec: { type: x, lifecycle: y, owner: z }\n")
	w.put(b.String())
	for term, want := range map[string][2]int{
		"skunkworks": {40, 0}, "skunkworks-3": {11, 0}, "skunkwroks": {40, 0}, "skun": {40, 0}, "rocketry": {41, 1}, "rocketrx": {41, 1}, "hidden": {0, 0},
	} {
		for i, who := range []string{"platform", "others"} {
			r := w.search("term="+term, "Authorization", who)
			p := decode[resultPage](t, r)
			if p.NumberOfResults != want[i] || len(p.Results) != min(want[i], 25) {
				t.Errorf("%s found %d results of %s, want %d", who, p.NumberOfResults, term, want[i])
			}
			if who == "others" && (strings.Contains(strings.ToLower(r.body), "skunk") || strings.Contains(r.body, "rocketry") || strings.Contains(r.body, "hidden")) {
				t.Errorf("%s sees %s", who, r.body)
			}
			seen := map[string]any{}
			if err := json.Unmarshal([]byte(r.body), &seen); err != nil {
				t.Fatal(err)
			}
			for key := range seen {
				if key != "results" && key != "numberOfResults" && key != "nextPageCursor" {
					t.Errorf("the response has %s", key)
				}
			}
		}
	}
}
