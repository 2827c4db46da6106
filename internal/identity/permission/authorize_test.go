package permission

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
)

var callers = map[string]auth.Caller{"guest": guest, "ada": ada, "pusher": pusher}

// start starts a server with the plugin. The callers' tokens are their names.
func start(t *testing.T, c config.Permission) *httptest.Server {
	t.Helper()
	resolve := func(_ context.Context, ref string) (*Resource, error) {
		for _, r := range []*Resource{ours, theirs, orphan} {
			if strings.EqualFold(r.Ref, ref) {
				return r, nil
			}
		}
		if ref == "component:default/broken" {
			return nil, db.ErrUnavailable
		}
		return nil, db.ErrNotFound
	}
	tasks := func(_ context.Context, id string) (*Resource, error) {
		return map[string]*Resource{"42": byAda, "43": byBob}[id], nil
	}
	s := httpd.New(httpd.Options{
		Plugins: []rest.Plugin{New(c).Plugin(resolve, tasks)},
		Authenticate: func(r *http.Request) (context.Context, error) {
			c, ok := callers[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
			if !ok {
				return nil, rest.Unauthenticated("Missing credentials")
			}
			return auth.With(r.Context(), c), nil
		},
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Registry: prometheus.NewRegistry(),
	})
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(hs.Close)
	return hs
}

func ask(t *testing.T, hs *httptest.Server, method, path, caller, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, hs.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if caller != "" {
		req.Header.Set("Authorization", "Bearer "+caller)
	}
	res, err := hs.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(got)
}

func TestAuthorize(t *testing.T) {
	const (
		basic  = `{"type":"basic","name":"catalog.entity.create","attributes":{"action":"create"}}`
		remove = `{"type":"resource","name":"catalog.entity.delete","attributes":{"action":"delete"},"resourceType":"catalog-entity"}`
	)
	fault := func(status, name, message string) string {
		return `{"error":{"name":"` + name + `","message":"` + message +
			`"},"request":{"method":"POST","url":"/authorize"},"response":{"statusCode":` + status + `}}`
	}
	input := func(message string) string { return fault("400", "InputError", message) }
	cases := map[string]struct {
		reason string
		caller string
		body   string
		status int
		want   string
	}{
		"Items": {"Each decision has the id of its request.", "ada",
			`{"items":[{"id":"1","permission":` + basic + `},{"id":"2","permission":` + remove + `,"resourceRef":"component:default/ours"}]}`,
			200, `{"items":[{"id":"1","result":"ALLOW"},{"id":"2","result":"ALLOW"}]}`},
		"Guest": {"Guests change nothing.", "guest", `{"items":[{"id":"1","permission":` + basic + `}]}`,
			200, `{"items":[{"id":"1","result":"DENY"}]}`},
		"List": {"A request in the format of the specification gets a response in that format.", "guest",
			`[{"permission":{"type":"catalog-entity","name":"catalog.entity.read"}},{"permission":{"type":"x","name":"scaffolder.task.read"}}]`,
			200, `[{"result":"ALLOW"},{"result":"DENY"}]`},
		"ListWithRef": {"A list may have resource references and ids.", "ada",
			`[{"id":"a","permission":{"type":"catalog-entity","name":"catalog.entity.delete"},"resourceRef":"api:shop/theirs"}]`,
			200, `[{"id":"a","result":"DENY"}]`},
		"EmptyList":  {"An empty list gets an empty list.", "ada", ` []`, 200, `[]`},
		"EmptyItems": {"An empty object gets an empty object.", "ada", `{"items":[]}`, 200, `{"items":[]}`},
		"Refs": {"A list of references gets a list of results.", "ada",
			`{"items":[{"id":"1","permission":` + remove + `,"resourceRef":["component:default/ours","api:shop/theirs","component:default/gone"]}]}`,
			200, `{"items":[{"id":"1","result":["ALLOW","DENY","DENY"]}]}`},
		"Missing": {"A missing resource is denied.", "pusher",
			`{"items":[{"id":"1","permission":` + remove + `,"resourceRef":"component:default/gone"}]}`,
			200, `{"items":[{"id":"1","result":"DENY"}]}`},
		"Task": {"A task is allowed to its creator, and a missing task is denied.", "ada",
			`{"items":[{"id":"1","permission":{"type":"resource","name":"scaffolder.task.read","attributes":{},"resourceType":"scaffolder-task"},"resourceRef":["42","43","44"]}]}`,
			200, `{"items":[{"id":"1","result":["ALLOW","DENY","DENY"]}]}`},
		"TaskByName": {"The name of a permission selects tasks as its resources.", "pusher",
			`[{"permission":{"type":"x","name":"scaffolder.task.cancel"},"resourceRef":["43","44"]}]`,
			200, `[{"result":["ALLOW","DENY"]}]`},
		"Action": {"An action is not looked up.", "ada",
			`{"items":[{"id":"1","permission":{"type":"resource","name":"scaffolder.action.execute","attributes":{},"resourceType":"scaffolder-action"},"resourceRef":"debug:log"}]}`,
			200, `{"items":[{"id":"1","result":"ALLOW"}]}`},
		"NoRef": {"A user needs a resource reference.", "ada", `{"items":[{"id":"1","permission":` + remove + `}]}`,
			400, input("Resource permissions require a resourceRef to be set. Direct user requests without a resourceRef are not allowed.")},
		"NoRefService": {"A service needs no resource reference.", "pusher", `{"items":[{"id":"1","permission":` + remove + `}]}`,
			200, `{"items":[{"id":"1","result":"ALLOW"}]}`},
		"NoAttributes": {"Attributes are required.", "ada",
			`{"items":[{"id":"1","permission":{"type":"basic","name":"catalog.entity.create"}}]}`,
			400, input("request/body/items/0/permission must have required property 'attributes', an object")},
		"BadType": {"A permission has the type basic or resource.", "ada",
			`{"items":[{"id":"1","permission":{"type":"catalog-entity","name":"catalog.entity.read","attributes":{}}}]}`,
			400, input("request/body/items/0/permission/type must be 'basic' or 'resource'")},
		"NoPermission": {"A request needs a permission.", "ada", `[{"id":"1"}]`,
			400, input("request/body/0 must have required property 'permission'")},
		"NoName": {"A permission needs a name.", "ada", `[{"permission":{"type":"x"}}]`,
			400, input("request/body/0/permission must have required property 'name'")},
		"NumberAsID": {"An id must be text.", "ada", `{"items":[{"id":1,"permission":` + basic + `}]}`,
			400, input("request/body/items/id must be string, and not number")},
		"BadRef": {"A reference must be text or a list.", "ada", `[{"permission":{"name":"x"},"resourceRef":{}}]`,
			400, input("request/body/0/resourceRef must be string or array")},
		"EmptyRefs": {"An empty list of references is refused.", "ada", `[{"permission":{"name":"x"},"resourceRef":[]}]`,
			400, input("request/body/0/resourceRef must not be empty")},
		"NoItems":   {"An object needs items.", "ada", `{}`, 400, input("request/body must have required property 'items'")},
		"Null":      {"Null is refused.", "ada", `null`, 400, input("request/body must have required property 'items'")},
		"Text":      {"Text is refused.", "ada", `"x"`, 400, input("request/body must be object, and not string")},
		"Empty":     {"An empty body is refused.", "ada", ``, 400, input("request/body is empty; it must be JSON")},
		"Malformed": {"Invalid JSON is refused with its position.", "ada", `[{`, 400, input("Unexpected end in JSON at position 2 (line 1 column 3)")},
		"TooMany": {"The number of requests is limited.", "ada", `[` + strings.Repeat(`{"permission":{"name":"x"}},`, 1000) + `{"permission":{"name":"x"}}]`,
			400, input("request/body must not ask for more than 1000 decisions, got 1001")},
		"Stranger": {"Credentials are required.", "", `[]`, 401, fault("401", "AuthenticationError", "Missing credentials")},
		"Unavailable": {"A resource that cannot be looked up is 503.", "ada",
			`[{"permission":{"name":"catalog.entity.read"},"resourceRef":"component:default/broken"}]`,
			503, fault("503", "ServiceUnavailableError", "The database is not available, try again later")},
	}
	hs := start(t, config.Permission{Enabled: true, Rules: editOwn})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			status, got := ask(t, hs, http.MethodPost, "/api/permission/authorize", tc.caller, tc.body)
			if status != tc.status {
				t.Errorf("%s: status is %d", tc.reason, status)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAuthorizeHidden checks that a hidden resource gets the same response as a
// missing one, which would otherwise reveal it.
func TestAuthorizeHidden(t *testing.T) {
	hs := start(t, config.Permission{Enabled: true, Rules: []config.PermissionRule{
		{Permissions: []string{EntityRead}, Namespaces: []string{"shop"}},
	}})
	_, got := ask(t, hs, http.MethodPost, "/api/permission/authorize", "ada",
		`[{"permission":{"name":"catalog.entity.delete"},"resourceRef":["component:default/ours","api:shop/theirs","api:shop/none"]}]`)
	if diff := cmp.Diff(`[{"result":["ALLOW","DENY","DENY"]}]`, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestHealth(t *testing.T) {
	status, got := ask(t, start(t, config.Permission{}), http.MethodGet, "/api/permission/health", "", "")
	if status != http.StatusOK || got != `{"status":"ok"}` {
		t.Errorf("response is %d %s", status, got)
	}
}

func FuzzAuthorize(f *testing.F) {
	f.Add(`[{"permission":{"type":"x","name":"y"},"resourceRef":["a"]}]`)
	f.Add(`{"items":[{"id":"1","permission":{"type":"basic","name":"n","attributes":{}}}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/api/permission/authorize", strings.NewReader(body))
		questions, isList, err := readQuestions(r)
		if err == nil {
			err = check(questions, isList, ada)
		}
		if _, ok := errors.AsType[*rest.Fault](err); err != nil && !ok {
			t.Errorf("error is not a fault: %v", err)
		}
	})
}
