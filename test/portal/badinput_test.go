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

// total returns the number of entities.
func (c caller) total() int {
	c.t.Helper()
	var page struct{ TotalItems int }
	c.get("/api/catalog/entities/by-query?limit=0", &page)
	return page.TotalItems
}

// fails checks that a request returns one of the statuses and an error that
// contains a text, that no entity is lost, and that the portal still works. The
// transport checks the error against the contract.
func (c caller) fails(x call, says string, statuses ...int) reply {
	c.t.Helper()
	before := c.total()
	r := c.send(x)
	if !slices.Contains(statuses, r.status) {
		c.t.Errorf("got %d %s, want one of %v", r.status, brief(r.body), statuses)
	}
	if !strings.Contains(string(r.body), says) {
		c.t.Errorf("error does not contain %q: %s", says, brief(r.body))
	}
	if after := c.total(); after != before {
		c.t.Errorf("catalog had %d entities, and now has %d", before, after)
	}
	return r
}

// TestBadRequests checks the errors for invalid requests.
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
		"half a query":             {"Malformed JSON is rejected.", post(catalog+"/entities/by-query", `{"limit":`), 400, "InputError"},
		"half a list of refs":      {"Malformed JSON is rejected.", post(catalog+"/entities/by-refs", `{"entityRefs":[`), 400, "InputError"},
		"half a location":          {"Malformed JSON is rejected.", post(catalog+"/locations", `{`), 400, "InputError"},
		"half an entity":           {"Malformed JSON is rejected.", post(catalog+"/validate-entity", `{"entity":{"kind":"X"}`), 400, "InputError"},
		"half a question":          {"Malformed JSON is rejected.", post("/api/permission/authorize", `{"items"`), 400, "InputError"},
		"words":                    {"A body that is not JSON is rejected.", post("/api/permission/authorize", `may I?`), 400, "InputError"},
		"two values":               {"A second JSON value after the first is rejected.", post(catalog+"/entities/by-refs", `{"entityRefs":[]} {"x":1}`), 400, "InputError"},
		"no body":                  {"An empty body is rejected.", call{method: "POST", path: catalog + "/entities/by-refs"}, 400, "InputError"},
		"deep JSON":                {"JSON with a hundred thousand nested objects is rejected.", post(catalog+"/entities/by-query", `{"query":`+strings.Repeat(`{"$not":`, 100_000)+`{}`+strings.Repeat("}", 100_001)), 400, "InputError"},
		"limit is text":            {"A value of the wrong type is rejected.", post(catalog+"/entities/by-query", `{"limit":"many"}`), 400, "limit"},
		"refs are an object":       {"A value of the wrong type is rejected.", post(catalog+"/entities/by-refs", `{"entityRefs":{}}`), 400, "entityRefs"},
		"refs are numbers":         {"A value of the wrong type is rejected.", post(catalog+"/entities/by-refs", `{"entityRefs":[1]}`), 400, "entityRefs"},
		"a list for an object":     {"A value of the wrong type is rejected.", post(catalog+"/entities/by-refs", `[]`), 400, "InputError"},
		"target is a number":       {"A value of the wrong type is rejected.", post(catalog+"/locations", `{"type":"url","target":1}`), 400, "target"},
		"facets are text":          {"A value of the wrong type is rejected.", post(catalog+"/entity-facets", `{"facets":"kind"}`), 400, "facets"},
		"query is a list":          {"A value of the wrong type is rejected.", post(catalog+"/entities/by-query", `{"query":[]}`), 400, "query"},
		"entity is text":           {"A value of the wrong type is rejected.", post(catalog+"/validate-entity", `{"entity":"x","location":"url:https://example.org/"}`), 400, "entity"},
		"items are an object":      {"A value of the wrong type is rejected.", post("/api/permission/authorize", `{"items":{}}`), 400, "items"},
		"unknown operator":         {"An unknown operator is rejected.", post(catalog+"/entities/by-query", `{"query":{"kind":{"$like":"x"}}}`), 400, "$hasPrefix"},
		"empty filter key":         {"A filter without a key is rejected.", get("/entities?filter==x"), 400, "'=x'"},
		"filter by a form":         {"A filter on a field that is not indexed is an error, not an empty result.", get("/entities?filter=spec.parameters.title=x"), 400, "spec.parameters"},
		"predicate by a form":      {"A predicate on a field that is not indexed is an error.", post(catalog+"/entities/by-query", `{"query":{"spec.parameters.title":"x"}}`), 400, "spec.parameters"},
		"facet of a form":          {"A facet of a field that is not indexed is an error.", get("/entity-facets?facet=spec.parameters.title"), 400, "spec.parameters"},
		"negative limit":           {"A negative limit is rejected.", get("/entities?limit=-1"), 400, "limit must be >= 0"},
		"negative offset":          {"A negative offset is rejected.", get("/entities?offset=-1"), 400, "offset must be >= 0"},
		"negative page":            {"A negative limit is rejected.", get("/entities/by-query?limit=-1"), 400, "limit"},
		"negative limit in a body": {"A negative limit is rejected.", post(catalog+"/entities/by-query", `{"limit":-1}`), 400, "limit"},
		"negative locations":       {"A negative limit is rejected.", post(catalog+"/locations/by-query", `{"limit":-1}`), 400, "limit"},
		"no limit":                 {"A limit that overflows an integer is rejected.", get("/entities?limit=99999999999999999999999"), 400, "limit"},
		"half a number":            {"A limit that is not an integer is rejected.", get("/entities/by-query?limit=1.5"), 400, "limit"},
		"a page without end":       {"The size of a page is bounded.", get("/entities/by-query?limit=10000000"), 400, "limit"},
		"order":                    {"An unknown sort direction is rejected.", get("/entities?order=sideways:metadata.name"), 400, "InputError"},
		"order without field":      {"An order without a field is rejected.", get("/entities?order=asc:"), 400, "InputError"},
		"order of pages":           {"An unknown sort direction is rejected.", get("/entities/by-query?orderField=metadata.name,sideways"), 400, "InputError"},
		"after":                    {"An after cursor that the catalog did not issue is rejected.", get("/entities?after=eyJsaW1pdCI6Miwib2Zmc2V0IjoyfQ"), 400, "Malformed after cursor"},
		"cursor":                   {"A cursor that the catalog did not issue is rejected.", get("/entities/by-query?cursor=eyJ4IjoxfQ"), 400, "Malformed cursor"},
		"locations' cursor":        {"A cursor that the catalog did not issue is rejected.", post(catalog+"/locations/by-query", `{"cursor":"eyJ4IjoxfQ"}`), 400, "ursor"},
		"slash":                    {"An escaped slash does not split a name.", byName("component", "default", "a%2Fb"), 404, "a/b"},
		"only slashes":             {"Escaped slashes in all parts are part of the names.", byName("%2F", "%2F", "%2F"), 404, "NotFoundError"},
		"percent":                  {"A name may contain a percent sign.", byName("component", "default", "100%25"), 404, "100%"},
		"twice escaped":            {"Names are unescaped only once.", byName("component", "default", "%2561"), 404, "%61"},
		"unicode":                  {"A name may be in any script.", byName("component", "default", url.PathEscape("名前-é-🚀")), 404, "名前"},
		"no text":                  {"A name that is not valid UTF-8 is not found.", byName("component", "default", "%ff%fe"), 404, "NotFoundError"},
		"nul":                      {"A name with a NUL byte, which PostgreSQL rejects, is not found.", byName("component", "default", "a%00b"), 404, "NotFoundError"},
		"dots":                     {"Escaped dots are a name, not a path traversal.", byName("component", "default", "%2e%2e"), 404, "NotFoundError"},
		"long name":                {"A name of ten thousand characters is not found.", byName("component", "default", strings.Repeat("x", 10_000)), 404, "NotFoundError"},
		"unknown uid":              {"An unknown uid is not found.", get("/entities/by-uid/%00%2F..%2F"), 404, "NotFoundError"},
		"unknown location":         {"An invalid location id is not found.", get("/locations/%27%3B--"), 404, "NotFoundError"},
		"unknown path":             {"An unknown path is not found.", get("/nothing/here"), 404, "NotFoundError"},
		"unknown part":             {"An unknown plugin is not found.", call{path: "/api/nothing"}, 404, "NotFoundError"},
		"wrong method":             {"An unsupported method is rejected.", call{method: "PATCH", path: catalog + "/entities"}, 405, "Error"},
		"10 MB of refs":            {"A body over the size limit is rejected.", post(catalog+"/entities/by-refs", large), 413, "PayloadTooLargeError"},
		"10 MB of entity":          {"A body over the size limit is rejected.", post(catalog+"/validate-entity", large), 413, "PayloadTooLargeError"},
		"10 MB of query":           {"A body over the size limit is rejected.", post(catalog+"/entities/by-query", large), 413, "PayloadTooLargeError"},
		"10 MB of location":        {"A body over the size limit is rejected.", post(catalog+"/locations", large), 413, "PayloadTooLargeError"},
		"10 MB of questions":       {"A body over the size limit is rejected.", post("/api/permission/authorize", large), 413, "PayloadTooLargeError"},
		"10 MB of facets":          {"A body over the size limit is rejected.", post(catalog+"/entity-facets", large), 413, "PayloadTooLargeError"},
		"100,000 values":           {"The number of values in a predicate is limited.", post(catalog+"/entities/by-query", `{"query":{"kind":{"$in":[`+many(100_000, `"x"`)+`]}}}`), 400, "InputError"},
		"100,000 predicates":       {"The number of predicates is limited.", post(catalog+"/entities/by-query", `{"query":{"$any":[`+many(100_000, `{"kind":"x"}`)+`]}}`), 400, "InputError"},
		"100,000 facets":           {"The number of facets is limited.", post(catalog+"/entity-facets", `{"facets":[`+many(100_000, `"kind"`)+`]}`), 400, "InputError"},
		"100,000 questions":        {"The number of permission requests is limited.", post("/api/permission/authorize", `[`+many(100_000, `{"permission":{"name":"x"}}`)+`]`), 400, "InputError"},
		"5,000 filters":            {"The number of filters is limited.", get("/entities?" + strings.Repeat("filter=a&", 5_000)), 400, "InputError"},
		"entity breaks rules":      {"An entity that breaks the catalog's rules is rejected.", post(catalog+"/validate-entity", `{"location":"url:https://example.org/x","entity":{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"no name!"},"spec":{}}}`), 400, "metadata.name"},
		"no entity":                {"A document that is not an entity is rejected.", post(catalog+"/validate-entity", `{"location":"url:https://example.org/x","entity":{}}`), 400, "errors"},
		"location without type":    {"A location type that is not allowed is rejected.", post(catalog+"/locations", `{"type":"ftp","target":"x"}`), 400, "allowed type"},
		"location in words":        {"A target that is not a URL is rejected.", post(catalog+"/locations?dryRun=true", `{"type":"url","target":"over there"}`), 400, "InputError"},
		"refresh of nothing":       {"A malformed entity reference is rejected.", post(catalog+"/refresh", `{"entityRef":"::://"}`), 400, "InputError"},
		"facet of nothing":         {"A request without a facet is rejected.", get("/entity-facets"), 400, "facet"},
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
		// Such a URL is rejected before it is parsed; the server may also close
		// the connection.
		w := w.in(t)
		x := get("/entities?" + strings.Repeat("filter=a&", 100_000))
		if r, err := w.try(x); err == nil && r.status != 414 && r.status != 431 && r.status != 400 {
			t.Errorf("got %d %s, want 400, 414 or 431", r.status, brief(r.body))
		}
		if w.total() != 3 {
			t.Error("entities were lost")
		}
	})
}

// TestBadCursors checks that changed cursors, and cursors of another list, are
// rejected.
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
				// The last character may contain unused bits.
				if i < len(cursor)-1 || r.status != 200 {
					t.Fatalf("cursor with changed character %d returned %d %s, want 400", i, r.status, brief(r.body))
				}
			}
		}
	})
	t.Run("truncated", func(t *testing.T) {
		w := w.in(t)
		for i := 1; i < len(cursor); i += 7 {
			if r := w.send(call{path: path + "?cursor=" + url.QueryEscape(cursor[:i])}); r.status != 400 {
				t.Fatalf("first %d characters of a cursor returned %d %s, want 400", i, r.status, brief(r.body))
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

// TestBadPushes checks that invalid pushes are rejected.
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
		"bad line":       {"A line that is not JSON rejects the whole push.", put(component("x") + "\n{\"kind\":\n" + component("y")), 400, "InputError"},
		"truncated":      {"A truncated body rejects the whole push.", put(component("x") + "\n" + component("y")[:40]), 400, "InputError"},
		"nothing":        {"An empty push, as from a failed pipeline, does not empty the catalog.", put("\n"), 400, "allowEmpty"},
		"type":           {"An unknown content type is rejected.", call{method: "PUT", path: full, body: "kind,name", header: http.Header{"Content-Type": {"text/csv"}}}, 415, "UnsupportedMediaTypeError"},
		"provider":       {"An invalid provider name is rejected.", call{method: "PUT", path: "/api/catalog/providers/No%2FName/entities", body: component("x"), header: ndjson}, 400, "InputError"},
		"strict":         {"In strict mode one invalid entity rejects the whole push.", call{method: "PUT", path: full + "?strict=true", body: component("x") + "\n" + component("no name!"), header: ndjson}, 400, "refused"},
		"bad gzip":       {"A body that is not in its declared encoding is rejected.", call{method: "PUT", path: full, body: component("x"), header: http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"gzip"}}}, 400, "InputError"},
		"bad encoding":   {"An unknown content encoding is rejected.", call{method: "PUT", path: full, body: component("x"), header: http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {"rot13"}}}, 415, "UnsupportedMediaTypeError"},
		"guest":          {"Guests cannot push.", call{method: "POST", path: delta, body: component("x"), header: ndjson, token: w.guest()}, 403, "catalog.entity.create"},
		"unknown":        {"An unknown provider is not found.", call{method: "DELETE", path: "/api/catalog/providers/unknown"}, 404, "NotFoundError"},
		"bad removal":    {"A malformed entity reference is rejected.", call{method: "POST", path: delta, body: `{"remove":17}`, header: ndjson}, 400, ""},
		"yaml bomb":      {"YAML aliases are not expanded without limit.", call{method: "POST", path: delta, body: bomb(), header: http.Header{"Content-Type": {"application/yaml"}}}, 400, "InputError"},
		"not an entity":  {"A list is not an entity.", call{method: "PUT", path: full + "?strict=true", body: "[1,2]", header: ndjson}, 400, ""},
		"guest's delete": {"Guests cannot delete a provider.", call{method: "DELETE", path: "/api/catalog/providers/first", token: w.guest()}, 403, "NotAllowedError"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.in(t).fails(tc.call, tc.says, tc.status)
		})
	}
	t.Run("refused entities", func(t *testing.T) {
		w := w.in(t)
		// The push has an invalid version of an existing entity, an invalid new
		// one, one that another provider owns, and one twice.
		w.push("second", component("theirs"))
		bad := `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"a","tags":["No Tag"]},"spec":{"type":"x","lifecycle":"x","owner":"x"}}`
		r := w.push("first", bad, component("no name!"), component("theirs"), component("b"), component("b"), component("new"))
		if r.Added != 1 || r.Unchanged != 1 || r.Removed != 0 || len(r.Refused) != 4 {
			t.Errorf("push returned %+v, want one added, one unchanged and four refused", r)
		}
		if !w.exists("component/default/a") || !w.exists("component/default/theirs") || w.total() != 4 {
			t.Error("entities were lost")
		}
		for _, refused := range r.Refused {
			if refused.Reason == "" {
				t.Errorf("refused entity has no reason: %+v", refused)
			}
		}
	})
}

// bomb returns a short YAML document that would expand to a very large one.
func bomb() string {
	var s strings.Builder
	s.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&s, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return s.String()
}
