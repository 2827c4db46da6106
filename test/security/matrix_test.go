package security_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// matrixFile has the status of each route for each caller.
const matrixFile = "testdata/matrix.txt"

// fill replaces the wildcards of paths with names that do not exist.
var fill = strings.NewReplacer(
	"{kind}", "component", "{namespace}", "default", "{name}", "nothing", "{uid}", "nothing", "{id}", "nothing",
	"{provider}", "cluster", "{resource}", "clusters", "{xrd}", "nothing", "{pod}", "nothing", "{bucket}", "nothing", "{key}", "nothing",
)

// bodies are for requests that are only authorized with a valid body. The
// others have an empty object.
var bodies = map[string]string{
	"POST /api/scaffolder/v2/tasks":        `{"templateRef":"template:default/nothing","values":{}}`,
	"POST /api/scaffolder/v2/dry-run":      `{"template":{},"values":{}}`,
	"POST /api/catalog/locations":          `{"type":"nothing","target":"nothing"}`,
	"POST /api/catalog/refresh":            `{"entityRef":"component:default/nothing"}`,
	"POST /api/catalog/entities/by-refs":   `{"entityRefs":["component:default/nothing"]}`,
	"POST /api/catalog/entity-facets":      `{"facets":["kind"]}`,
	"POST /api/permission/authorize":       `[]`,
	"POST /api/catalog/entities/by-query":  `{}`,
	"POST /api/catalog/locations/by-query": `{}`,

	"PUT /api/user-settings/buckets/{bucket}/keys/{key}": `{"value":[]}`,
	"POST /api/user-settings/multiget":                   `{"items":[]}`,

	"POST /api/orchestrator/services/{id}":             `{"entity":{"kind":"Component","metadata":{"name":"nothing"}}}`,
	"POST /api/orchestrator/resources/workloads/query": `{"entityRef":"component:default/nothing"}`,
	"POST /api/orchestrator/resources/custom/query":    `{"entityRef":"component:default/nothing","customResources":[{"group":"","apiVersion":"v1","plural":"pods"}]}`,
}

// queries are for requests that are only authorized with parameters.
var queries = map[string]string{
	"GET /api/composer-ingestor/choices":                             "?template=nothing&field=/nothing",
	"GET /api/orchestrator/logs/by-name/{kind}/{namespace}/{name}":   "?cluster=cluster&namespace=default&pod=nothing",
	"GET /api/orchestrator/events/by-name/{kind}/{namespace}/{name}": "?cluster=cluster&namespace=default&type=pods&object=nothing",
}

// beside are the routes of the server itself.
var beside = []string{
	"GET /health/live", "GET /health/ready", "GET /.backstage/health/v1/liveness", "GET /.backstage/health/v1/readiness", "GET /metrics",
	"GET /", "GET /catalog", "GET /api/nothing",
}

// TestMatrix sends a request for every route of the portal as every kind of
// caller. A new route or a changed status shows as a difference: review it,
// then run the test with -update.
func TestMatrix(t *testing.T) {
	w := enter(t)
	callers := []struct {
		name string
		client
	}{
		{"anonymous", w.portal.client(t, "")},
		{"guest", w.open.guest(t)},
		{"team-a", w.as(t, ada)}, {"team-b", w.as(t, bob)}, {"service", w.as(t, restricted)}, {"operator", w.as(t, olivia)},
	}
	routes := slices.Clone(beside)
	for _, p := range w.portal.portal.Plugins() {
		for _, r := range p.Routes {
			routes = append(routes, r.Method+" /api/"+p.Names[0]+r.Path)
		}
	}
	slices.SortFunc(routes, func(a, b string) int {
		methodA, pathA, _ := strings.Cut(a, " ")
		methodB, pathB, _ := strings.Cut(b, " ")
		return strings.Compare(pathA+" "+methodA, pathB+" "+methodB)
	})
	var table strings.Builder
	line := func(method, path string, columns []string) {
		fmt.Fprintf(&table, "%-7s%-75s", method, path)
		for i, c := range columns {
			if i == len(columns)-1 {
				fmt.Fprintf(&table, "%s\n", c)
				break
			}
			fmt.Fprintf(&table, "%-11s", c)
		}
	}
	var names []string
	for _, c := range callers {
		names = append(names, c.name)
	}
	line("method", "path", names)
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		var statuses []string
		for _, c := range callers {
			body := bodies[route]
			if body == "" && method != http.MethodGet && method != http.MethodDelete {
				body = "{}"
			}
			statuses = append(statuses, fmt.Sprint(c.do(method, fill.Replace(path)+queries[route], body).status))
		}
		line(method, path, statuses)
	}
	if *update {
		if err := os.WriteFile(matrixFile, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(table.String(), "\n")); diff != "" {
		t.Errorf("%s differs (-want +got); review each line, then run the test with -update:\n%s", matrixFile, diff)
	}
}
