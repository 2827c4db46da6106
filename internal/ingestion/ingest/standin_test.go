package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// Content of the stand-in, and the target under which it is read.
const (
	theGroup       = "apiextensions.crossplane.io"
	theKinds       = "compositeresourcedefinitions"
	theCluster     = "composerIngestor/prod"
	theDefinitions = object.ListDefinitions + theKinds + "." + theGroup
)

// standIn is an API server whose objects and versions the test sets, as a real
// one cannot be told how to count versions.
type standIn struct {
	*httptest.Server
	mu sync.Mutex
	// version is that of the lists; objects are their content, by plural and name.
	version int64
	objects map[string]map[string]string
	// forbidden denies all lists.
	forbidden bool
	// denied are the plurals that cannot be listed.
	denied map[string]bool
}

func stand(t *testing.T) *standIn {
	t.Helper()
	a := &standIn{version: 100}
	a.clear()
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// clear removes everything.
func (a *standIn) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.objects = map[string]map[string]string{theKinds: {}, "compositions": {}}
}

// put sets an object at a version, and raises the version of the lists to it.
func (a *standIn) put(t *testing.T, text string, version int64) {
	t.Helper()
	set := &xrd.Set{}
	if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil {
		t.Fatal(err)
	}
	plural, n := theKinds, (*tree.Node)(nil)
	for _, d := range set.Definitions {
		n = d.Node
	}
	for _, c := range set.Compositions {
		plural, n = "compositions", c.Node
	}
	meta := n.Get("metadata")
	meta.Set("resourceVersion", tree.Str(fmt.Sprint(version)))
	meta.Set("uid", tree.Str("uid of "+name(n)))
	// Servers record when an object changed. Here a second is a version.
	at := time.Unix(version, 0).UTC().Format(time.RFC3339)
	meta.Set("managedFields", tree.Arr(tree.Obj(tree.F("time", tree.Str(at)))))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.objects[plural][name(n)] = string(tree.AppendJSON(nil, n, ""))
	a.version = max(a.version, version)
}

// spoil makes a definition one that can be listed but not read: it is nested too
// deep.
func (a *standIn) spoil(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	deep := `"spec":{"deep":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + ","
	a.objects[theKinds][name] = strings.Replace(a.objects[theKinds][name], `"spec":{`, deep, 1)
}

// to sets the version of the lists.
func (a *standIn) to(version int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version = version
}

// forbid sets whether all lists are denied.
func (a *standIn) forbid(no bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forbidden = no
}

// deny sets whether a plural is denied.
func (a *standIn) deny(plural string, no bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied = map[string]bool{plural: no}
}

// ServeHTTP implements http.Handler.
func (a *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	group, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/apis"), theGroup)
	path := strings.Split(strings.Trim(rest, "/"), "/")
	var answer string
	switch {
	case r.URL.Path == "/apis":
		answer = `{"kind":"APIGroupDiscoveryList","items":[]}`
	case group != "/":
	case rest == "":
		answer = `{"kind":"APIGroup","versions":[{"version":"v2"},{"version":"v1"}]}`
	case rest == "/v2", rest == "/v1":
		served := map[string]string{"v2": theKinds, "v1": "compositions"}[path[0]]
		answer = fmt.Sprintf(`{"kind":"APIResourceList","resources":[{"name":%q,"verbs":["create","list"]}]}`, served)
	case len(path) == 2 && (a.forbidden || a.denied[path[1]]):
		w.WriteHeader(http.StatusForbidden)
		answer = `{"kind":"Status","reason":"Forbidden","code":403,"message":"not today"}`
	case len(path) == 2:
		all := a.objects[path[1]]
		items := make([]string, 0, len(all))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			items = append(items, all[name])
		}
		answer = fmt.Sprintf(`{"kind":"List","metadata":{"resourceVersion":"%d"},"items":[%s]}`, a.version, strings.Join(items, ","))
	case len(path) == 3:
		answer = a.objects[path[1]][path[2]]
	}
	w.Header().Set("Content-Type", "application/json")
	if answer == "" {
		w.WriteHeader(http.StatusNotFound)
		answer = fmt.Sprintf(`{"kind":"Status","reason":"NotFound","code":404,"details":{"name":%q}}`, path[len(path)-1])
	}
	// A client that closed the connection gets no response.
	_, _ = w.Write([]byte(answer))
}

// name returns the name of an object.
func name(n *tree.Node) string { return n.Get("metadata", "name").Str() }

// settings returns the cluster settings of the stand-in.
func (a *standIn) settings() source.Cluster {
	return source.Cluster{Name: "prod", URL: a.URL, Token: "theirs"}
}

// abroad creates an Ingest over a stand-in, with SQLite. change, if not nil, may
// alter its options.
func abroad(t *testing.T, a *standIn, change func(*Options)) *harness {
	t.Helper()
	return newHarness(t, nil, func(o *Options) {
		o.Variants[0].Clusters = []source.Cluster{a.settings()}
		if change != nil {
			change(o)
		}
	})
}

// visit scans the stand-in a second later. It returns the error of the source.
func (b *harness) visit(t *testing.T) (Run, error) {
	t.Helper()
	b.later(time.Second)
	return b.Scan(t.Context(), theCluster, TriggerManual)
}

// visits scans the stand-in and fails the test on an error.
func (b *harness) visits(t *testing.T) Run {
	t.Helper()
	run, err := b.visit(t)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// works processes the dirty units.
func (b *harness) works(t *testing.T) {
	t.Helper()
	if _, err := b.processor.Process(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// healthOf returns the health of the service and of its only source.
func (b *harness) healthOf(t *testing.T) (health.Health, health.Source) {
	t.Helper()
	h, err := b.Health(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return h, h.Sources[0]
}

// logged counts the log lines with a message.
func (b *harness) logged(message string) int {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return strings.Count(b.log.String(), `"msg":`+string(text))
}

// mirrored returns the objects that a unit owns.
func (b *harness) mirrored(t *testing.T, unit string) []mirror.Object {
	t.Helper()
	objects, err := b.Mirror.UnitObjects(t.Context(), []string{unit})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(objects, func(a, b mirror.Object) int { return cmp.Compare(a.Key, b.Key) })
	return objects
}
