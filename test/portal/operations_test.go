package portal_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outside are the endpoints that belong to no plugin.
var outside = []string{
	"GET /.backstage/health/v1/liveness", "GET /.backstage/health/v1/readiness", "GET /health/live", "GET /health/ready", "GET /metrics",
}

// TestRoutes checks that the document lists exactly the routes of the server.
func TestRoutes(t *testing.T) {
	w := start(t, setup{})
	routes := slices.Clone(outside)
	for _, plugin := range w.portal.Plugins() {
		for _, name := range plugin.Names {
			for _, r := range plugin.Routes {
				routes = append(routes, r.Method+" /api/"+name+r.Path)
			}
		}
	}
	slices.Sort(routes)
	var documented []string
	for path, item := range readContract(t).doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	slices.Sort(documented)
	if diff := cmp.Diff(documented, routes); diff != "" {
		t.Errorf("routes of document and server differ (-document +server):\n%s", diff)
	}
}

// TestHosts checks that requests for foreign host names are rejected, as they
// occur in DNS rebinding.
func TestHosts(t *testing.T) {
	w := start(t, setup{
		listener: listen(t), base: "http://portal.example.org", hosts: []string{"*.svc"},
		sections: map[string]any{"app": map[string]any{"baseUrl": "http://app.example.org"}},
	})
	cases := map[string]struct {
		reason string
		host   string
		path   string
		status int
	}{
		"base":    {"The host of backend.baseUrl is accepted.", "portal.example.org:7007", "/api/catalog/entities", 200},
		"app":     {"The host of app.baseUrl is accepted.", "app.example.org", "/api/catalog/entities", 200},
		"listed":  {"An entry of backend.allowedHosts is accepted.", "portal.tools.svc:7007", "/api/catalog/entities", 200},
		"this":    {"The local host is accepted.", "localhost:1", "/api/catalog/entities", 200},
		"probe":   {"Probes of the kubelet use the address of the pod and are accepted.", "10.1.2.3:7007", "/health/ready", 200},
		"rebound": {"Another name that resolves to the portal is rejected.", "rebound.example.net", "/api/catalog/entities", 421},
		"guest":   {"Another name gets no guest token.", "rebound.example.net", "/api/auth/guest/refresh", 421},
		"address": {"An IP address is rejected for the API.", "10.1.2.3:7007", "/api/catalog/entities", 421},
		"page":    {"Another name gets no page.", "rebound.example.net", "/", 421},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got struct{ Error struct{ Message string } }
			into := any(&got)
			if tc.status == http.StatusOK {
				into = nil
			}
			w.in(t).want(call{path: tc.path, host: tc.host}, tc.status, into)
			if into != nil && (!strings.Contains(got.Error.Message, tc.host) || !strings.Contains(got.Error.Message, "backend.allowedHosts")) {
				t.Errorf("%s: message is %q, want host and setting named", tc.reason, got.Error.Message)
			}
		})
	}
}

// operation is a call of an operation with the expected response.
type operation struct {
	id     string
	call   call
	status int
	// says is a regular expression that the body must match.
	says string
}

// operations starts a portal with some entities and a location, and returns a
// valid call of each operation. Operations that need an issuer or a user return
// that there is none.
func operations(t *testing.T, database map[string]any) (*world, []operation) {
	t.Helper()
	served := serveFiles(t, "")
	target := served.put("catalog.yaml", "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: shop}\nspec: {owner: team}\n")
	second := served.put("second.yaml", "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: other}\nspec: {owner: team}\n")
	w := start(t, setup{allow: []string{served.host}, database: database, sections: ingesting(t)})
	w.until("the definition is in the catalog, and that is written down", func() bool {
		return strings.Contains(string(w.send(call{path: "/api/composer-ingestor/runs"}).body), `"added":4`)
	})
	var runs struct {
		Items []struct {
			ID    string
			Added int
		}
	}
	w.get("/api/composer-ingestor/runs", &runs)
	run := ""
	for _, r := range runs.Items {
		if r.Added == 4 {
			run = r.ID
		}
	}
	w.push("first", component("a"), component("b"), component("c"))
	var made struct{ Location struct{ ID string } }
	w.want(call{method: "POST", path: "/api/catalog/locations", body: fmt.Sprintf(`{"type":"url","target":%q}`, target)}, http.StatusCreated, &made)
	w.until("the location is read", func() bool { return w.exists("system/default/shop") })
	var shop struct{ Metadata struct{ UID string } }
	w.get("/api/catalog/entities/by-name/component/default/a", &shop)

	const catalog = "/api/catalog"
	location := catalog + "/locations/" + made.Location.ID
	xhr := http.Header{"X-Requested-With": {"XMLHttpRequest"}}
	// The order matters: the last operations remove what the others use.
	return w, slices.Concat(ingestionOperations("composer-ingestor", "orchestrator", "", run), ingestionOperations("crossplane-ingestor", "kubernetes", "Upstream", run), scaffolderOperations(w), []operation{
		{"getGuestSession", call{path: "/api/auth/guest/refresh", token: noToken}, 200, `"userEntityRef":"user:development/guest"`},
		{"postGuestSession", call{method: "POST", path: "/api/auth/guest/refresh", token: noToken, body: "{}"}, 200, `"portalIdentity"`},
		{"getSignInProviders", call{path: "/api/auth/providers", token: noToken}, 200, `^{"guest":true,"oidc":false}$`},
		{"getSigningKeys", call{path: "/api/auth/.well-known/jwks.json", token: noToken}, 200, `"alg":"ES256"`},
		{"getIssuerMetadata", call{path: "/api/auth/.well-known/openid-configuration", token: noToken}, 200, `"issuer":"` + w.base},
		{"startSignIn", call{path: "/api/auth/oidc/start", token: noToken}, 404, "NotFoundError"},
		{"finishSignIn", call{path: "/api/auth/oidc/handler/frame?state=x&code=y", token: noToken}, 404, "NotFoundError"},
		{"getUserSession", call{path: "/api/auth/oidc/refresh", token: noToken, header: xhr}, 404, "NotFoundError"},
		{"postUserSession", call{method: "POST", path: "/api/auth/oidc/refresh", token: noToken, header: xhr}, 404, "NotFoundError"},
		{"signOut", call{method: "POST", path: "/api/auth/oidc/logout", token: noToken, header: xhr}, 404, "NotFoundError"},
		{"listEntities", call{path: catalog + "/entities?shape=items&limit=1&order=desc:metadata.name"}, 200, `^{"items":\[{.*"name":"shop"`},
		{"queryEntities", call{path: catalog + "/entities/by-query?limit=1&filter=kind=component"}, 200, `"totalItems":3,"pageInfo":{"nextCursor"`},
		{"queryEntitiesByPredicate", call{method: "POST", path: catalog + "/entities/by-query", body: `{"query":{"$any":[{"kind":"system"},{"metadata.name":{"$in":["a"]}}]}}`}, 200, `"totalItems":2`},
		{"getEntityByUid", call{path: catalog + "/entities/by-uid/" + shop.Metadata.UID}, 200, `"name":"a"`},
		{"getEntityByName", call{path: catalog + "/entities/by-name/System/default/SHOP"}, 200, `"name":"shop"`},
		{"getEntityAncestry", call{path: catalog + "/entities/by-name/system/default/shop/ancestry"}, 200, `"rootEntityRef":"system:default/shop"`},
		{"getEntitiesByRefs", call{method: "POST", path: catalog + "/entities/by-refs?filter=kind=component", body: `{"entityRefs":["component:default/a","system:default/shop"],"fields":["kind"]}`}, 200, `^{"items":\[{"kind":"Component"},null\]}`},
		{"getEntityFacets", call{path: catalog + "/entity-facets?facet=kind&filter=kind=component"}, 200, `{"facets":{"kind":\[{"value":"Component","count":3}\]}}`},
		{"getEntityFacetsByPredicate", call{method: "POST", path: catalog + "/entity-facets", body: `{"facets":["kind"],"query":{"kind":"system"}}`}, 200, `{"value":"System","count":1}`},
		{"search", call{path: "/api/search/query?term=shop+systm&types%5B0%5D=software-catalog&filters%5Bkind%5D=System"}, 200, `"entityRef":"system:default/shop".*"numberOfResults":1`},
		{"listRecentChanges", call{path: catalog + "/recent?limit=100&since=2026-01-02T03:04:05Z"}, 200, `{"entityRef":"system:default/shop","kind":"System","type":"other","title":"shop","change":"created","at":"[^"]+Z"}`},
		{"getFeed", call{path: catalog + "/feed.yaml?filter=kind=system"}, 200, `(?s)kind: System.*name: shop`},
		{"getFeedLines", call{path: catalog + "/feed.ndjson?filter=kind=system"}, 200, `(?s)"mode":"full".*"name":"shop".*"end":\{"entities":`},
		{"refreshEntity", call{method: "POST", path: catalog + "/refresh", body: `{"entityRef":"system:default/shop"}`}, 200, `^$`},
		{"listLocations", call{path: catalog + "/locations"}, 200, made.Location.ID},
		{"createLocation", call{method: "POST", path: catalog + "/locations?dryRun=true", body: fmt.Sprintf(`{"type":"url","target":%q}`, second)}, 201, `"exists":false`},
		{"queryLocations", call{method: "POST", path: catalog + "/locations/by-query", body: `{"limit":1}`}, 200, `"totalItems":1`},
		{"getLocation", call{path: location}, 200, target},
		{"getLocationByEntity", call{path: catalog + "/locations/by-entity/system/default/shop"}, 200, made.Location.ID},
		{"updateLocation", call{method: "PUT", path: location, body: fmt.Sprintf(`{"type":"url","target":%q}`, second)}, 200, second},
		{"listProviders", call{path: catalog + "/providers"}, 200, `"name":"first","entities":3`},
		{"putProviderEntities", call{method: "PUT", path: catalog + "/providers/first/entities", body: component("a") + "\n" + component("b"), header: ndjson}, 200, `"removed":1,"unchanged":2`},
		{"postProviderDelta", call{method: "POST", path: catalog + "/providers/first/delta", body: "---\nremove: component:default/b\n---\n" + component("d"), header: http.Header{"Content-Type": {"application/yaml"}}}, 200, `"added":1,"updated":0,"removed":1`},
		{"validateEntity", call{method: "POST", path: catalog + "/validate-entity", body: `{"location":"url:https://example.org/x","entity":` + component("x") + `}`}, 200, `^$`},
		{"analyzeLocation", call{method: "POST", path: catalog + "/analyze-location", body: fmt.Sprintf(`{"location":{"type":"url","target":%q}}`, second)}, 200, `generateEntities`},
		{"authorize", call{method: "POST", path: "/api/permission/authorize", body: `[{"permission":{"type":"catalog-entity","name":"catalog.entity.read"}}]`}, 200, `^\[{"result":"ALLOW"}\]`},
		{"getUserSetting", call{path: "/api/user-settings/buckets/a/keys/b"}, 403, "Services have no stored settings"},
		{"putUserSetting", call{method: "PUT", path: "/api/user-settings/buckets/a/keys/b", body: `{"value":1}`}, 403, "Services have no stored settings"},
		{"deleteUserSetting", call{method: "DELETE", path: "/api/user-settings/buckets/a/keys/b"}, 403, "Services have no stored settings"},
		{"getUserSettings", call{method: "POST", path: "/api/user-settings/multiget", body: `{"items":[{"bucket":"a","key":"b"}]}`}, 403, "Services have no stored settings"},
		{"getPermissionHealth", call{path: "/api/permission/health", token: noToken}, 200, `{"status":"ok"}`},
		{"getLiveness", call{path: "/.backstage/health/v1/liveness", token: noToken}, 200, `{"status":"ok"}`},
		{"getReadiness", call{path: "/.backstage/health/v1/readiness", token: noToken}, 200, `{"status":"ok"}`},
		{"getLive", call{path: "/health/live", token: noToken}, 200, `{"status":"ok"}`},
		{"getReady", call{path: "/health/ready", token: noToken}, 200, `{"status":"ok"}`},
		{"getMetrics", call{path: "/metrics", token: noToken}, 200, `http_requests_total`},
		{"deleteEntityByUid", call{method: "DELETE", path: catalog + "/entities/by-uid/" + shop.Metadata.UID}, 204, `^$`},
		{"deleteLocation", call{method: "DELETE", path: location}, 204, `^$`},
		{"deleteProvider", call{method: "DELETE", path: catalog + "/providers/first"}, 204, `^$`},
	})
}

// TestOperations calls every operation of the document and checks its response.
func TestOperations(t *testing.T) { onBoth(t, callOperations) }

func callOperations(t *testing.T, database map[string]any) {
	w, rows := operations(t, database)
	tried := map[string]bool{}
	for _, row := range rows {
		t.Run(row.id, func(t *testing.T) {
			tried[row.id] = true
			w := w.in(t)
			r := w.send(row.call)
			if r.status != row.status || !regexp.MustCompile(row.says).Match(r.body) {
				t.Errorf("got %d %s, want %d %s", r.status, brief(r.body), row.status, row.says)
			}
			if id := w.operation(row.call); id != row.id {
				t.Errorf("call is of the operation %s", id)
			}
			if row.call.method == "" && row.status == http.StatusOK {
				w.unchanged(row.call, r)
			}
		})
	}
	for _, item := range readContract(t).doc.Paths.Map() {
		for _, o := range item.Operations() {
			if !tried[o.OperationID] {
				t.Errorf("no row calls %s", o.OperationID)
			}
		}
	}
}

// denied are the operations that a guest may not call, with the missing
// permission or the reason.
var denied = map[string]string{
	"refreshEntity":       "catalog.entity.refresh",
	"createLocation":      "catalog.location.create",
	"updateLocation":      "catalog.location.create",
	"deleteLocation":      "catalog.location.delete",
	"deleteEntityByUid":   "catalog.entity.delete",
	"putProviderEntities": "catalog.entity.create",
	"postProviderDelta":   "catalog.entity.create",
	"deleteProvider":      "catalog.ingestion.manage",
	"getUserSetting":      "Guests have no stored settings; sign in",
	"putUserSetting":      "Guests have no stored settings; sign in",
	"deleteUserSetting":   "Guests have no stored settings; sign in",
	"getUserSettings":     "Guests have no stored settings; sign in",
	"analyzeLocation":     "catalog.location.analyze",
	"listProviders":       "catalog.ingestion.read",

	"listTasks":        "scaffolder.task.read",
	"createTask":       "scaffolder.task.create",
	"getTask":          "scaffolder.task.read",
	"cancelTask":       "scaffolder.task.read",
	"retryTask":        "scaffolder.task.read",
	"listTaskEvents":   "scaffolder.task.read",
	"streamTaskEvents": "scaffolder.task.read",
	"dryRun":           "scaffolder.template.dry-run",
	"runAction":        "scaffolder.task.create",
	"autocomplete":     "scaffolder.task.create",

	"listRuns": "catalog.ingestion.read", "listRunsUpstream": "catalog.ingestion.read",
	"getRun": "catalog.ingestion.read", "getRunUpstream": "catalog.ingestion.read",
	"listFindings": "catalog.ingestion.read", "listFindingsUpstream": "catalog.ingestion.read",
	"listDefinitions": "catalog.ingestion.read", "listDefinitionsUpstream": "catalog.ingestion.read",
	"listDefinitionsByName": "catalog.ingestion.read", "listDefinitionsByNameUpstream": "catalog.ingestion.read",
	"startRuns": "catalog.ingestion.manage", "startRunsUpstream": "catalog.ingestion.manage",
	"confirmRemoval": "catalog.ingestion.manage", "confirmRemovalUpstream": "catalog.ingestion.manage",
	"planComposite": "scaffolder.template.dry-run", "planCompositeUpstream": "scaffolder.template.dry-run",
	"explainDefinition": "catalog.ingestion.read", "explainDefinitionUpstream": "catalog.ingestion.read",
	"compareDefinitions": "catalog.ingestion.read", "compareDefinitionsUpstream": "catalog.ingestion.read",
	"getVersionUsage": "catalog.ingestion.read", "getVersionUsageUpstream": "catalog.ingestion.read",
}

// TestGuests checks that guests get 403 with the missing permission where they
// are denied, and the usual response elsewhere.
func TestGuests(t *testing.T) {
	w, rows := operations(t, nil)
	guest := w.guest()
	before := w.total()
	for _, row := range rows {
		if row.call.token == noToken {
			continue
		}
		t.Run(row.id, func(t *testing.T) {
			w, x := w.in(t), row.call
			x.token = guest
			r := w.send(x)
			if permission := denied[row.id]; permission != "" {
				if r.status != http.StatusForbidden || !strings.Contains(string(r.body), permission) {
					t.Errorf("got %d %s, want 403 that names %s", r.status, brief(r.body), permission)
				}
				return
			}
			if r.status != row.status {
				t.Errorf("got %d %s, want %d", r.status, brief(r.body), row.status)
			}
		})
	}
	if after := w.total(); after != before {
		t.Errorf("calls of guests changed the number of entities to %d from %d", after, before)
	}
}

// TestStrangers checks that requests without a token get 401 exactly where the
// document requires a token.
func TestStrangers(t *testing.T) {
	w := start(t, setup{})
	for path, item := range readContract(t).doc.Paths.Map() {
		for method, o := range item.Operations() {
			t.Run(o.OperationID, func(t *testing.T) {
				r := w.in(t).send(call{method: method, path: parameter.ReplaceAllString(path, "x"), token: noToken})
				if needed := o.Security == nil; needed != (r.status == http.StatusUnauthorized) {
					t.Errorf("request without a token returned %d %s", r.status, brief(r.body))
				}
			})
		}
	}
}

// operation returns the operation id of a request.
func (c caller) operation(x call) string {
	c.t.Helper()
	method := x.method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequest(method, c.base+x.path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	route, _ := readContract(c.t).find(req)
	if route == nil {
		c.t.Fatalf("document has no operation for %s %s", method, x.path)
	}
	return route.Operation.OperationID
}

// unchanged checks that HEAD returns the same as GET, and that a second read
// with the ETag returns 304.
func (c caller) unchanged(x call, first reply) {
	c.t.Helper()
	x.method = http.MethodHead
	if head := c.send(x); head.status != first.status || len(head.body) > 0 || head.header.Get("Content-Type") != first.header.Get("Content-Type") {
		c.t.Errorf("HEAD returned %d %v", head.status, head.header)
	}
	etag := first.header.Get("ETag")
	if etag == "" {
		return
	}
	if strings.HasPrefix(etag, "W/") {
		c.t.Errorf("ETag %s is weak, want a strong one", etag)
	}
	x.method, x.header = "", http.Header{"If-None-Match": {`"x", ` + etag}}
	if again := c.send(x); again.status != http.StatusNotModified || len(again.body) > 0 {
		c.t.Errorf("read with its ETag returned %d %s, want 304", again.status, brief(again.body))
	}
}
