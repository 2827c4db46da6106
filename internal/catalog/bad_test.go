package catalog

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBadInput(t *testing.T) {
	w := newWorld(t)
	before := w.get("/entities").body
	long := strings.Repeat("x", 20_000)
	query := url.QueryEscape
	cases := map[string]struct {
		reason       string
		method, path string
		body         string
		status       int
		// message is the message of the error, or its beginning if it ends with "…".
		message string
	}{
		"Filter": {
			reason: "A filter without a key is refused as in Backstage.",
			path:   "/entities?filter==x", status: 400,
			message: "Invalid filter, '=x' is not a valid statement (expected a string on the form a=b or a= or a)",
		},
		"FilterNUL": {
			reason: "A filter with NUL is refused, as no database can query it.",
			path:   "/entities?filter=kind%3Da%00", status: 400,
			message: "Invalid filter, it has a NUL or is not UTF-8",
		},
		"FilterNotUTF8": {
			reason: "A filter that is not UTF-8 is refused.",
			path:   "/entities/by-query?filter=%ff", status: 400,
			message: "Invalid filter, it has a NUL or is not UTF-8",
		},
		"FilterForm": {
			reason: "A filter inside a form is refused, as forms are not indexed.",
			path:   "/entity-facets?facet=kind&filter=spec.parameters.properties.size", status: 400,
			message: "Invalid filter, the field 'spec.parameters.properties.size' cannot be searched…",
		},
		"FilterMany": {
			reason: "The number of conditions is limited.",
			path:   "/feed.yaml?" + strings.Repeat("filter=a&", 1001), status: 400,
			message: "Invalid filter, it has more than 1000 conditions or is nested too deep",
		},
		"Percent": {
			reason: "An invalid escape in the query string is refused.",
			path:   "/entities?filter=%zz", status: 400,
			message: "Malformed query string: …",
		},
		"LimitText": {
			reason: "A limit that is not a number is refused as in Backstage.",
			path:   "/entities?limit=abc", status: 400,
			message: "request/query/limit must be integer",
		},
		"LimitNegative": {
			reason: "A negative limit is refused as in Backstage.",
			path:   "/entities?limit=-1", status: 400,
			message: "request/query/limit must be >= 0",
		},
		"LimitTwice": {
			reason: "A repeated limit is refused as ambiguous.",
			path:   "/entities/by-query?limit=1&limit=2", status: 400,
			message: "request/query/limit must be integer",
		},
		"LimitEmpty": {
			reason: "An empty limit is refused.",
			path:   "/entities/by-query?limit=", status: 400,
			message: "request/query/limit must be integer",
		},
		"LimitHuge": {
			reason: "A limit above the range of integers is refused.",
			path:   "/entities?limit=99999999999999999999999", status: 400,
			message: "request/query/limit must be <= 2147483647",
		},
		"LimitHugeNegative": {
			reason: "An offset below the range of integers is refused.",
			path:   "/entities?offset=-99999999999999999999999", status: 400,
			message: "request/query/offset must be >= 0",
		},
		"LimitQuery": {
			reason: "The page size is limited, as a page is held in memory.",
			path:   "/entities/by-query?limit=10001", status: 400,
			message: "The limit must be at most 10000; use the cursors of the response for the rest",
		},
		"Offset": {
			reason: "An offset must be an integer.",
			path:   "/entities/by-query?offset=1.5", status: 400,
			message: "request/query/offset must be integer",
		},
		"After": {
			reason: "A malformed after cursor is refused as in Backstage.",
			path:   "/entities?after=garbage", status: 400,
			message: "Malformed after cursor, could not be parsed",
		},
		"AfterTheirs": {
			reason: "An after cursor without a signature is refused.",
			path:   "/entities?limit=2&after=eyJsaW1pdCI6Miwib2Zmc2V0IjoyfQ%3D%3D", status: 400,
			message: "Malformed after cursor, could not be parsed",
		},
		"Cursor": {
			reason: "A malformed cursor is refused.",
			path:   "/entities/by-query?cursor=xx", status: 400,
			message: "Malformed cursor: not created by this catalog, or modified since",
		},
		"CursorEmpty": {
			reason: "An empty cursor is refused.",
			path:   "/entities/by-query?cursor=", status: 400,
			message: "Cursor cannot be empty",
		},
		"CursorPost": {
			reason: "A malformed cursor in a body is refused.",
			method: "POST", path: "/entities/by-query", body: `{"cursor":"` + long + `"}`, status: 400,
			message: "Malformed cursor: not created by this catalog, or modified since",
		},
		"Order": {
			reason: "An order without a direction is refused as in Backstage.",
			path:   "/entities?order=metadata.name", status: 400,
			message: `Invalid order parameter "metadata.name", expected "<asc or desc>:<field name>"`,
		},
		"OrderField": {
			reason: "An order field with an unknown direction is refused as in Backstage.",
			path:   "/entities/by-query?orderField=metadata.name,up", status: 400,
			message: "Invalid order field order, must be asc or desc",
		},
		"OrderMany": {
			reason: "The number of order fields is limited, as each needs a lookup.",
			path:   "/entities/by-query?" + strings.Repeat("orderField=a&", 11), status: 400,
			message: "Invalid order, it has more than 10 fields",
		},
		"OrderNothing": {
			reason: "An order field without a name is refused.",
			path:   "/entities/by-query?orderField=", status: 400,
			message: "Invalid order, a field has no name",
		},
		"OrderForm": {
			reason: "An order field inside a form is refused, as forms are not indexed.",
			path:   "/entities?order=asc:spec.parameters.x", status: 400,
			message: "Invalid order, the field 'spec.parameters.x' cannot be searched…",
		},
		"Fields": {
			reason: "A field inside a list is refused as in Backstage.",
			path:   "/entities?fields=metadata.tags[0]", status: 400,
			message: "invalid fields, array type fields are not supported",
		},
		"TextNUL": {
			reason: "A search term with NUL is refused.",
			path:   "/entities/by-query?fullTextFilterTerm=%00", status: 400,
			message: "Invalid fullTextFilterTerm, it has a NUL or is not UTF-8",
		},
		"TextLong": {
			reason: "The length of a search term is limited.",
			path:   "/entities/by-query?fullTextFilterTerm=" + long[:600], status: 400,
			message: "Invalid fullTextFilter, its term has more than 500 bytes",
		},
		"Total": {
			reason: "Neither.",
			path:   "/entities/by-query?totalItems=maybe", status: 400,
			message: "request/query/totalItems must be equal to one of the allowed values: include, exclude",
		},
		"NoFacet": {
			reason: "A request without facets is refused as in Backstage.",
			path:   "/entity-facets", status: 400,
			message: "request/query must have required property 'facet'",
		},
		"NoFacets": {
			reason: "A body without facets is refused.",
			method: "POST", path: "/entity-facets", body: `{}`, status: 400,
			message: "request/body must have required property 'facets'",
		},
		"Facets": {
			reason: "The number of facets is limited, as each needs a lookup.",
			path:   "/entity-facets?" + strings.Repeat("facet=a&", 101), status: 400,
			message: "Invalid facets, more than 100 given",
		},
		"NoRefs": {
			reason: "A body without entityRefs is refused as in Backstage.",
			method: "POST", path: "/entities/by-refs", body: `{"refs":[]}`, status: 400,
			message: "request/body must have required property 'entityRefs'",
		},
		"RefsType": {
			reason: "An entityRefs of the wrong type is refused.",
			method: "POST", path: "/entities/by-refs", body: `{"entityRefs":"a"}`, status: 400,
			message: "request/body/entityRefs must be …",
		},
		"RefsMany": {
			reason: "The number of references is limited.",
			method: "POST", path: "/entities/by-refs", body: `{"entityRefs":[` + strings.Repeat(`"a:b/c",`, 10_000) + `"a"]}`, status: 400,
			message: "request/body/entityRefs must NOT have more than 10000 items",
		},
		"Body": {
			reason: "A missing body is refused.",
			method: "POST", path: "/entities/by-query", body: ``, status: 400,
			message: "request/body is empty; it must be JSON",
		},
		"BodyBroken": {
			reason: "A body that is not JSON is refused.",
			method: "POST", path: "/entities/by-query", body: `{"limit":`, status: 400,
			message: "Unexpected end in JSON at position 9 (line 1 column 10)",
		},
		"BodyType": {
			reason: "A limit of the wrong type in a body is refused.",
			method: "POST", path: "/entities/by-query", body: `{"limit":"2"}`, status: 400,
			message: "request/body/limit must be integer…",
		},
		"BodyNegative": {
			reason: "A negative limit in a body is refused.",
			method: "POST", path: "/entities/by-query", body: `{"limit":-2}`, status: 400,
			message: "request/body/limit must be >= 0",
		},
		"BodyList": {
			reason: "A body that is a list is refused.",
			method: "POST", path: "/entities/by-query", body: `[]`, status: 400,
			message: "request/body must be object…",
		},
		"BodyOrder": {
			reason: "An unknown direction in a body is refused.",
			method: "POST", path: "/entities/by-query", body: `{"orderBy":[{"field":"a","order":"up"}]}`, status: 400,
			message: "Invalid order field order, must be asc or desc",
		},
		"Query": {
			reason: "A query that is not an object is refused.",
			method: "POST", path: "/entities/by-query", body: `{"query":"kind"}`, status: 400,
			message: "Query must be an object",
		},
		"QueryDeep": {
			reason: "The nesting of a query is limited.",
			method: "POST", path: "/entities/by-query", body: `{"query":` + strings.Repeat(`{"$not":`, 5000) + `{}` + strings.Repeat(`}`, 5000) + `}`, status: 400,
			message: "Invalid query: maps and lists are nested more than 80 levels deep",
		},
		"QueryMany": {
			reason: "The number of conditions of a query is limited.",
			method: "POST", path: "/entity-facets", body: `{"facets":["kind"],"query":{"$any":[` + strings.Repeat(`{"kind":"a"},`, 100_000) + `{}]}}`, status: 400,
			message: "Invalid filter, it has more than 1000 conditions or is nested too deep",
		},
		"Name": {
			reason: "An unknown name is not found, as in Backstage.",
			path:   "/entities/by-name/template/default/none", status: 404,
			message: "No entity named 'none' found, with kind 'template' in namespace 'default'",
		},
		"NameSlash": {
			reason: "A name is one segment of the path, whatever it contains.",
			path:   "/entities/by-name/component/default/a%2Fb", status: 404,
			message: "No entity named 'a/b' found, with kind 'component' in namespace 'default'",
		},
		"NamePercent": {
			reason: "Percent signs are decoded once.",
			path:   "/entities/by-name/component/default/a%2525%25", status: 404,
			message: "No entity named 'a%25%' found, with kind 'component' in namespace 'default'",
		},
		"NameUnicode": {
			reason: "A name may have any letters.",
			path:   "/entities/by-name/%E2%98%83/" + query("ü") + "/%F0%9F%A6%AB", status: 404,
			message: "No entity named '🦫' found, with kind '☃' in namespace 'ü'",
		},
		"NameNUL": {
			reason: "A name with NUL is not found.",
			path:   "/entities/by-name/component/default/a%00", status: 404,
			message: "No entity named 'a\x00' found, with kind 'component' in namespace 'default'",
		},
		"NameNotUTF8": {
			reason: "A name that is not UTF-8 is not found.",
			path:   "/entities/by-name/component/default/%ff", status: 404,
			message: "No entity named '\ufffd' found, with kind 'component' in namespace 'default'",
		},
		"NameQuote": {
			reason: "A name with SQL is not found.",
			path:   "/entities/by-name/component/default/" + url.PathEscape("a' OR 1=1 --"), status: 404,
			message: "No entity named 'a' OR 1=1 --' found, with kind 'component' in namespace 'default'",
		},
		"NameLong": {
			reason: "A long name is not found.",
			path:   "/entities/by-name/component/default/" + long, status: 404,
			message: "No entity named 'xxx…",
		},
		"UID": {
			reason: "An unknown uid is not found, as in Backstage.",
			path:   "/entities/by-uid/nope", status: 404,
			message: "No entity with uid nope",
		},
		"UIDNUL": {
			reason: "A uid with NUL is not found.",
			path:   "/entities/by-uid/%00", status: 404,
			message: "No entity with uid \x00",
		},
		"Ancestry": {
			reason: "The ancestry of an unknown entity is not found, as in Backstage.",
			path:   "/entities/by-name/Component/Default/None/ancestry", status: 404,
			message: "No such entity component:default/none",
		},
		"AncestryNUL": {
			reason: "The ancestry of a name with NUL is not found.",
			path:   "/entities/by-name/component/default/%00/ancestry", status: 404,
			message: "No such entity component:default/\x00",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			got := w.do(method, tc.path, tc.body)
			var body struct {
				Error    struct{ Name, Message, Stack string }
				Response struct{ StatusCode int }
			}
			if err := json.Unmarshal([]byte(got.body), &body); err != nil {
				t.Fatalf("%s\n%s: got %d %s", tc.reason, tc.path[:min(len(tc.path), 200)], got.status, got.body)
			}
			wantName := map[int]string{400: "InputError", 404: "NotFoundError"}[tc.status]
			if got.status != tc.status || body.Response.StatusCode != tc.status || body.Error.Name != wantName || body.Error.Stack != "" {
				t.Errorf("%s\ngot %d %s, want %d %s", tc.reason, got.status, got.body, tc.status, wantName)
			}
			want, isBeginning := strings.CutSuffix(tc.message, "…")
			if isBeginning && strings.HasPrefix(body.Error.Message, want) {
				return
			}
			if diff := cmp.Diff(tc.message, body.Error.Message); diff != "" {
				t.Errorf("%s\nmessage -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if after := w.get("/entities").body; after != before {
		t.Errorf("catalog was changed: %s", after)
	}
}

// TestOdd checks requests that look invalid but are valid.
func TestOdd(t *testing.T) {
	w := newWorld(t)
	for reason, path := range map[string]string{
		"unknown parameters are ignored":          "/entities?limit=1&unknown=x",
		"a key longer than any is nowhere":        "/entities?filter=" + strings.Repeat("k", 5000),
		"so is a value":                           "/entities?filter=kind=" + strings.Repeat("v", 5000),
		"an offset behind the end":                "/entities?limit=2&offset=1000000",
		"a query behind the end":                  "/entities/by-query?offset=1000000",
		"patterns of the database are characters": "/entities/by-query?fullTextFilterTerm=%25_%5C&fullTextFilterFields=metadata.name",
		"quotes are characters":                   "/entities?filter=kind='%22`--",
		"a search for no word":                    "/entities/by-query?fullTextFilterTerm=..." + "&limit=0",
		"unknown fields":                          "/entities?limit=1&fields=" + strings.Repeat("a.", 1000),
	} {
		if got := w.get(path); got.status != http.StatusOK {
			t.Errorf("%s: response is %d %s, want 200", reason, got.status, got.body)
		}
	}
}
