package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// total is how many entities there are.
func (c caller) total() int {
	c.t.Helper()
	var page struct{ TotalItems int }
	c.get("/api/catalog/entities/by-query?limit=0", &page)
	return page.TotalItems
}

// fails wants a request to be answered with one of the statuses and an error of
// the contract, which the transport checks, with nothing lost and the portal as
// lively as before.
func (c caller) fails(x call, says string, statuses ...int) reply {
	c.t.Helper()
	before := c.total()
	r := c.send(x)
	if !slices.Contains(statuses, r.status) {
		c.t.Errorf("got %d %s, want %v", r.status, brief(r.body), statuses)
	}
	if !strings.Contains(string(r.body), says) {
		c.t.Errorf("the error does not say %q: %s", says, brief(r.body))
	}
	if after := c.total(); after != before {
		c.t.Errorf("there were %d entities, and now there are %d", before, after)
	}
	return r
}

// TestBadRequests sends requests that say something wrong.
func TestBadRequests(t *testing.T) { onBoth(t, badRequests) }

func badRequests(t *testing.T, database map[string]any) {
	w := start(t, setup{database: database})
	w.push("first", component("a"), component("b"), component("c"))
	const catalog = "/api/catalog"
	post := func(path, body string) call { return call{method: "POST", path: path, body: body} }
	get := func(path string) call { return call{path: catalog + path} }
	byName := func(kind, namespace, name string) call {
		return get("/entities/by-name/" + kind + "/" + namespace + "/" + name)
	}
	many := func(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	large := `{"entityRefs":["` + strings.Repeat("x", 10<<20) + `"]}`

	cases := map[string]struct {
		reason string
		call   call
		status int
		// says is a part of the message.
		says string
	}{
		"half a query":             {"malformed JSON", post(catalog+"/entities/by-query", `{"limit":`), 400, "InputError"},
		"half a list of refs":      {"malformed JSON", post(catalog+"/entities/by-refs", `{"entityRefs":[`), 400, "InputError"},
		"half a location":          {"malformed JSON", post(catalog+"/locations", `{`), 400, "InputError"},
		"half an entity":           {"malformed JSON", post(catalog+"/validate-entity", `{"entity":{"kind":"X"}`), 400, "InputError"},
		"half a question":          {"malformed JSON", post("/api/permission/authorize", `{"items"`), 400, "InputError"},
		"words":                    {"not JSON at all", post("/api/permission/authorize", `may I?`), 400, "InputError"},
		"two values":               {"something behind the JSON", post(catalog+"/entities/by-refs", `{"entityRefs":[]} {"x":1}`), 400, "InputError"},
		"no body":                  {"an empty body", call{method: "POST", path: catalog + "/entities/by-refs"}, 400, "InputError"},
		"deep JSON":                {"a hundred thousand brackets", post(catalog+"/entities/by-query", `{"query":`+strings.Repeat(`{"$not":`, 100_000)+`{}`+strings.Repeat("}", 100_001)), 400, "InputError"},
		"limit is text":            {"wrong types", post(catalog+"/entities/by-query", `{"limit":"many"}`), 400, "limit"},
		"refs are an object":       {"wrong types", post(catalog+"/entities/by-refs", `{"entityRefs":{}}`), 400, "entityRefs"},
		"refs are numbers":         {"wrong types", post(catalog+"/entities/by-refs", `{"entityRefs":[1]}`), 400, "entityRefs"},
		"a list for an object":     {"wrong types", post(catalog+"/entities/by-refs", `[]`), 400, "InputError"},
		"target is a number":       {"wrong types", post(catalog+"/locations", `{"type":"url","target":1}`), 400, "target"},
		"facets are text":          {"wrong types", post(catalog+"/entity-facets", `{"facets":"kind"}`), 400, "facets"},
		"query is a list":          {"wrong types", post(catalog+"/entities/by-query", `{"query":[]}`), 400, "query"},
		"entity is text":           {"wrong types", post(catalog+"/validate-entity", `{"entity":"x","location":"url:https://example.org/"}`), 400, "entity"},
		"items are an object":      {"wrong types", post("/api/permission/authorize", `{"items":{}}`), 400, "items"},
		"unknown operator":         {"an operator that there is not", post(catalog+"/entities/by-query", `{"query":{"kind":{"$like":"x"}}}`), 400, "$hasPrefix"},
		"empty filter key":         {"a filter without a key", get("/entities?filter==x"), 400, "'=x'"},
		"filter by a form":         {"what is not indexed is not silently empty", get("/entities?filter=spec.parameters.title=x"), 400, "spec.parameters"},
		"predicate by a form":      {"nor in a predicate", post(catalog+"/entities/by-query", `{"query":{"spec.parameters.title":"x"}}`), 400, "spec.parameters"},
		"facet of a form":          {"nor as a facet", get("/entity-facets?facet=spec.parameters.title"), 400, "spec.parameters"},
		"negative limit":           {"limits count", get("/entities?limit=-1"), 400, "limit must be >= 0"},
		"negative offset":          {"offsets count", get("/entities?offset=-1"), 400, "offset must be >= 0"},
		"negative page":            {"limits count", get("/entities/by-query?limit=-1"), 400, "limit"},
		"negative limit in a body": {"limits count", post(catalog+"/entities/by-query", `{"limit":-1}`), 400, "limit"},
		"negative locations":       {"limits count", post(catalog+"/locations/by-query", `{"limit":-1}`), 400, "limit"},
		"no limit":                 {"a limit beyond numbers", get("/entities?limit=99999999999999999999999"), 400, "limit"},
		"half a number":            {"a limit that is no whole number", get("/entities/by-query?limit=1.5"), 400, "limit"},
		"a page without end":       {"pages are bounded", get("/entities/by-query?limit=10000000"), 400, "limit"},
		"order":                    {"an order that there is not", get("/entities?order=sideways:metadata.name"), 400, "InputError"},
		"order without field":      {"an order of nothing", get("/entities?order=asc:"), 400, "InputError"},
		"order of pages":           {"an order that there is not", get("/entities/by-query?orderField=metadata.name,sideways"), 400, "InputError"},
		"after":                    {"a place that nobody named", get("/entities?after=eyJsaW1pdCI6Miwib2Zmc2V0IjoyfQ"), 400, "Malformed after cursor"},
		"cursor":                   {"a cursor that nobody gave", get("/entities/by-query?cursor=eyJ4IjoxfQ"), 400, "Malformed cursor"},
		"locations' cursor":        {"a cursor that nobody gave", post(catalog+"/locations/by-query", `{"cursor":"eyJ4IjoxfQ"}`), 400, "ursor"},
		"slash":                    {"a name with a slash is not two names", byName("component", "default", "a%2Fb"), 404, "a/b"},
		"only slashes":             {"slashes all over", byName("%2F", "%2F", "%2F"), 404, "NotFoundError"},
		"percent":                  {"a name with a percent sign", byName("component", "default", "100%25"), 404, "100%"},
		"twice escaped":            {"names are read once", byName("component", "default", "%2561"), 404, "%61"},
		"unicode":                  {"a name in another script", byName("component", "default", url.PathEscape("名前-é-🚀")), 404, "名前"},
		"no text":                  {"a name that is not text", byName("component", "default", "%ff%fe"), 404, "NotFoundError"},
		"nul":                      {"a name with a zero byte, which PostgreSQL refuses", byName("component", "default", "a%00b"), 404, "NotFoundError"},
		"dots":                     {"a way out that is a name", byName("component", "default", "%2e%2e"), 404, "NotFoundError"},
		"long name":                {"a name of ten thousand characters", byName("component", "default", strings.Repeat("x", 10_000)), 404, "NotFoundError"},
		"unknown uid":              {"a uid that there is not", get("/entities/by-uid/%00%2F..%2F"), 404, "NotFoundError"},
		"unknown location":         {"an id that is none", get("/locations/%27%3B--"), 404, "NotFoundError"},
		"unknown path":             {"a path that there is not", get("/nothing/here"), 404, "NotFoundError"},
		"unknown part":             {"a part that there is not", call{path: "/api/nothing"}, 404, "NotFoundError"},
		"wrong method":             {"a method that there is not", call{method: "PATCH", path: catalog + "/entities"}, 405, "Error"},
		"10 MB of refs":            {"more than is accepted", post(catalog+"/entities/by-refs", large), 413, "PayloadTooLargeError"},
		"10 MB of entity":          {"more than is accepted", post(catalog+"/validate-entity", large), 413, "PayloadTooLargeError"},
		"10 MB of query":           {"more than is accepted", post(catalog+"/entities/by-query", large), 413, "PayloadTooLargeError"},
		"10 MB of location":        {"more than is accepted", post(catalog+"/locations", large), 413, "PayloadTooLargeError"},
		"10 MB of questions":       {"more than is accepted", post("/api/permission/authorize", large), 413, "PayloadTooLargeError"},
		"10 MB of facets":          {"more than is accepted", post(catalog+"/entity-facets", large), 413, "PayloadTooLargeError"},
		"100,000 values":           {"a predicate without measure", post(catalog+"/entities/by-query", `{"query":{"kind":{"$in":[`+many(100_000, `"x"`)+`]}}}`), 400, "InputError"},
		"100,000 predicates":       {"a predicate without measure", post(catalog+"/entities/by-query", `{"query":{"$any":[`+many(100_000, `{"kind":"x"}`)+`]}}`), 400, "InputError"},
		"100,000 facets":           {"facets without measure", post(catalog+"/entity-facets", `{"facets":[`+many(100_000, `"kind"`)+`]}`), 400, "InputError"},
		"100,000 questions":        {"questions without measure", post("/api/permission/authorize", `[`+many(100_000, `{"permission":{"name":"x"}}`)+`]`), 400, "InputError"},
		"5,000 filters":            {"filters without measure", get("/entities?" + strings.Repeat("filter=a&", 5_000)), 400, "InputError"},
		"entity breaks rules":      {"an entity that the catalog would not take", post(catalog+"/validate-entity", `{"location":"url:https://example.org/x","entity":{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"no name!"},"spec":{}}}`), 400, "metadata.name"},
		"no entity":                {"a document that is no entity", post(catalog+"/validate-entity", `{"location":"url:https://example.org/x","entity":{}}`), 400, "errors"},
		"location without type":    {"a type that is not allowed", post(catalog+"/locations", `{"type":"ftp","target":"x"}`), 400, "allowed type"},
		"location in words":        {"a target that is no address", post(catalog+"/locations?dryRun=true", `{"type":"url","target":"over there"}`), 400, "InputError"},
		"refresh of nothing":       {"a reference that is none", post(catalog+"/refresh", `{"entityRef":"::://"}`), 400, "InputError"},
		"facet of nothing":         {"no facet", get("/entity-facets"), 400, "facet"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			r := w.fails(tc.call, tc.says, tc.status)
			if t.Failed() {
				t.Logf("%s: %s", tc.reason, brief(r.body))
			}
		})
	}
	t.Run("100,000 filters", func(t *testing.T) {
		// Such an address is refused before anybody reads it, also by closing
		// the connection.
		w := w.in(t)
		x := get("/entities?" + strings.Repeat("filter=a&", 100_000))
		if r, err := w.try(x); err == nil && r.status != 414 && r.status != 431 && r.status != 400 {
			t.Errorf("got %d %s", r.status, brief(r.body))
		}
		if w.total() != 3 {
			t.Error("something was lost")
		}
	})
}

// TestBadCursors changes cursors, and uses them where they do not belong.
func TestBadCursors(t *testing.T) {
	w := start(t, setup{})
	w.push("first", component("a"), component("b"), component("c"), component("d"))
	const path = "/api/catalog/entities/by-query"
	var page struct{ PageInfo struct{ NextCursor string } }
	w.get(path+"?filter=kind=component&limit=1", &page)
	cursor := page.PageInfo.NextCursor
	w.want(call{path: path + "?limit=1&cursor=" + url.QueryEscape(cursor)}, http.StatusOK, nil)

	for name, query := range map[string]url.Values{
		"another filter": {"cursor": {cursor}, "filter": {"kind=system"}},
		"another order":  {"cursor": {cursor}, "orderField": {"metadata.name,desc"}},
		"another search": {"cursor": {cursor}, "fullTextFilterTerm": {"x"}},
		"twice":          {"cursor": {cursor + cursor}},
		"nul":            {"cursor": {cursor + "\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.in(t).fails(call{path: path + "?" + query.Encode()}, "ursor", 400)
		})
	}
	t.Run("changed", func(t *testing.T) {
		w := w.in(t)
		for i := range cursor {
			changed := []byte(cursor)
			changed[i] = "AB"[btoi(changed[i] == 'A')]
			if r := w.send(call{path: path + "?cursor=" + url.QueryEscape(string(changed))}); r.status != 400 {
				// The last character may hold bits that mean nothing.
				if i < len(cursor)-1 || r.status != 200 {
					t.Fatalf("character %d changed: got %d %s", i, r.status, brief(r.body))
				}
			}
		}
	})
	t.Run("truncated", func(t *testing.T) {
		w := w.in(t)
		for i := 1; i < len(cursor); i += 7 {
			if r := w.send(call{path: path + "?cursor=" + url.QueryEscape(cursor[:i])}); r.status != 400 {
				t.Fatalf("the first %d characters: got %d %s", i, r.status, brief(r.body))
			}
		}
	})
	t.Run("of another list", func(t *testing.T) {
		w := w.in(t)
		w.fails(call{path: "/api/catalog/entities?after=" + url.QueryEscape(cursor)}, "ursor", 400)
		body, err := json.Marshal(map[string]string{"cursor": cursor})
		if err != nil {
			t.Fatal(err)
		}
		w.fails(call{method: "POST", path: "/api/catalog/locations/by-query", body: string(body)}, "ursor", 400)
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestBadPushes pushes what is not taken.
func TestBadPushes(t *testing.T) {
	w := start(t, setup{})
	w.push("first", component("a"), component("b"))
	const full, delta = "/api/catalog/providers/first/entities", "/api/catalog/providers/first/delta"
	put := func(body string) call { return call{method: "PUT", path: full, body: body, header: ndjson} }
	cases := map[string]struct {
		reason string
		call   call
		status int
		says   string
	}{
		"bad line":       {"a line that is not JSON changes nothing", put(component("x") + "\n{\"kind\":\n" + component("y")), 400, "InputError"},
		"truncated":      {"a body that ends in the middle changes nothing", put(component("x") + "\n" + component("y")[:40]), 400, "InputError"},
		"nothing":        {"a pipeline that failed must not empty the catalog", put("\n"), 400, "allowEmpty"},
		"type":           {"an unknown type of body", call{method: "PUT", path: full, body: "kind,name", header: http.Header{"Content-Type": {"text/csv"}}}, 415, "UnsupportedMediaTypeError"},
		"provider":       {"a name that is none", call{method: "PUT", path: "/api/catalog/providers/No%2FName/entities", body: component("x"), header: ndjson}, 400, "InputError"},
		"strict":         {"one bad entity refuses all", call{method: "PUT", path: full + "?strict=true", body: component("x") + "\n" + component("no name!"), header: ndjson}, 400, "refused"},
		"bad gzip":       {"a body that is not what it says", call{method: "PUT", path: full, body: component("x"), header: http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"gzip"}}}, 400, "InputError"},
		"bad encoding":   {"an encoding nobody knows", call{method: "PUT", path: full, body: component("x"), header: http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"rot13"}}}, 415, "UnsupportedMediaTypeError"},
		"guest":          {"guests change nothing", call{method: "POST", path: delta, body: component("x"), header: ndjson, token: w.guest()}, 403, "catalog.entity.create"},
		"unknown":        {"a provider that there is not", call{method: "DELETE", path: "/api/catalog/providers/nobody"}, 404, "NotFoundError"},
		"bad removal":    {"a reference that is none", call{method: "POST", path: delta, body: `{"remove":17}`, header: ndjson}, 400, ""},
		"yaml bomb":      {"aliases are not multiplied", call{method: "POST", path: delta, body: bomb(), header: http.Header{"Content-Type": {"application/yaml"}}}, 400, "InputError"},
		"not an entity":  {"a list is no entity", call{method: "PUT", path: full + "?strict=true", body: "[1,2]", header: ndjson}, 400, ""},
		"guest's delete": {"guests change nothing", call{method: "DELETE", path: "/api/catalog/providers/first", token: w.guest()}, 403, "NotAllowedError"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.in(t).fails(tc.call, tc.says, tc.status)
		})
	}
	t.Run("refused entities", func(t *testing.T) {
		w := w.in(t)
		// A bad version of what the provider has already, one that is new, one
		// of somebody else's, and one twice.
		w.push("second", component("theirs"))
		bad := `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"a","tags":["No Tag"]},"spec":{"type":"x","lifecycle":"x","owner":"x"}}`
		r := w.push("first", bad, component("no name!"), component("theirs"), component("b"), component("b"), component("new"))
		if r.Added != 1 || r.Unchanged != 1 || r.Removed != 0 || len(r.Refused) != 4 {
			t.Errorf("one is added, one unchanged, four are refused, got %+v", r)
		}
		if !w.there("component/default/a") || !w.there("component/default/theirs") || w.total() != 4 {
			t.Error("something was lost")
		}
		for _, refused := range r.Refused {
			if refused.Reason == "" {
				t.Errorf("a refusal without a reason: %+v", refused)
			}
		}
	})
}

// bomb is a short document that would be a long one.
func bomb() string {
	var s strings.Builder
	s.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&s, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return s.String()
}
