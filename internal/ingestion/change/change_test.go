package change

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// shops returns a definition whose versions v1 and v2 have a schema each, of which v1 takes
// some sizes.
func shops(sizes, v2 string) string {
	return `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: shops.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Shop, plural: shops}
  versions:
    - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string, enum: [` + sizes + `]}}}}}}}
    - {name: v2, served: true, referenceable: false, schema: {openAPIV3Schema: ` + v2 + `}}
`
}

const anything = "{type: object}"

func ingested(t *testing.T, text string) Ingested {
	t.Helper()
	var set xrd.Set
	if err := set.Read(strings.NewReader(text), xrd.Origin{}); err != nil || len(set.Definitions) != 1 {
		t.Fatalf("%d definitions, %v, %v", len(set.Definitions), err, set.Findings)
	}
	return Ingested{Definition: set.Definitions[0]}
}

// world is the API, with one ingested definition.
type world struct {
	api *Changes
	// comparing and reading are called when a comparison and the reading of a cluster begin.
	comparing, reading func()
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	known := ingested(t, text)
	on, err := cluster.Connect(source.Cluster{Name: "one", URL: "https://127.0.0.1:1", Token: "x"}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known.Clusters = []Cluster{{Name: "one", Cluster: on}}
	w := &world{comparing: func() {}, reading: func() {}}
	w.api = New(Options{
		Policy: permission.New(config.Permission{Enabled: true}),
		Ingested: func(context.Context, string) (Ingested, bool, error) {
			w.comparing()
			return known, true, nil
		},
		Definition: func(context.Context, entity.Ref) (Ingested, error) { return known, nil },
		Readable: func(_ context.Context, refs []string) ([]bool, error) {
			return slices.Repeat([]bool{true}, len(refs)), nil
		},
		Cluster: func(context.Context, string) (*cluster.Cluster, error) {
			w.reading()
			return nil, rest.NotAllowed("no")
		},
	})
	return w
}

// answer are status and message of a response.
type answer struct {
	Status  int
	Message string
}

// ask requests the impact of a narrower definition as a user.
func (w *world) ask(ctx context.Context, user, query, body string) answer {
	r := httptest.NewRequest(http.MethodPost, "/impact"+query, strings.NewReader(body))
	r = r.WithContext(identity.With(ctx, identity.Caller{Kind: identity.User, Subject: "user:default/" + user}))
	rec := httptest.NewRecorder()
	if err := w.api.impact(rec, r); err != nil {
		f := rest.FaultOf(err)
		return answer{f.Status, f.Message}
	}
	return answer{Status: rec.Code}
}

// TestReaders holds two requests that read clusters: a caller has one at once, and there are
// two at once. Comparisons of texts go on.
func TestReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, shops("small, large", anything))
		release := make(chan struct{})
		w.reading = func() { <-release }
		narrow := shops("large", anything)
		held := make(chan answer, 2)
		hold := func(user string) {
			go func() { held <- w.ask(t.Context(), user, "", narrow) }()
			synctest.Wait()
		}
		const typing = "?impact=false"
		expect := func(reason, user, query, body string, want answer) {
			t.Helper()
			if diff := cmp.Diff(want, w.ask(t.Context(), user, query, body)); diff != "" {
				t.Errorf("%s -want +got:\n%s", reason, diff)
			}
		}
		hold("ada")
		expect("A caller compares while a check of the caller runs.", "ada", typing, narrow, answer{Status: 200})
		expect("A caller has one check at once.", "ada", "", narrow, answer{429, "You have a request in progress that reads clusters; try again when it has ended"})
		expect("A text without a definition reads no cluster.", "ada", "", "# none", answer{400, "The body has no definition; send CompositeResourceDefinitions as YAML or JSON"})
		hold("bob")
		expect("There are two checks at once.", "eve", "", narrow, answer{503, "Too many requests that read clusters are in progress; try again in a few seconds"})
		expect("A caller compares while the checks of others run.", "eve", typing, narrow, answer{Status: 200})
		close(release)
		for range 2 {
			if got := <-held; got.Status != 200 {
				t.Errorf("check ended with %v", got)
			}
		}
		expect("The next check runs when one has ended.", "eve", "", narrow, answer{Status: 200})
	})
}

// TestTurns holds the processors: comparisons wait for their turn, a few for each caller.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, shops("small, large", anything))
		w.api.turns = make(chan struct{}, 1)
		release := make(chan struct{})
		var running, most atomic.Int64
		w.comparing = func() {
			most.Store(max(most.Load(), running.Add(1)))
			<-release
			running.Add(-1)
		}
		all := make(chan answer, mostOpen)
		for range mostOpen {
			go func() { all <- w.ask(t.Context(), "ada", "?impact=false", shops("large", anything)) }()
		}
		synctest.Wait()
		if diff := cmp.Diff(answer{429, "You have 4 comparisons in progress; try again in a second"}, w.ask(t.Context(), "ada", "?impact=false", shops("large", anything))); diff != "" {
			t.Errorf("a caller waits for a few comparisons; -want +got:\n%s", diff)
		}
		gone, leave := context.WithCancel(t.Context())
		left := make(chan answer, 1)
		go func() { left <- w.ask(gone, "bob", "?impact=false", shops("large", anything)) }()
		synctest.Wait()
		leave()
		synctest.Wait()
		if len(left) != 1 {
			t.Error("a comparison waits for its turn after its caller has gone")
		}
		began := time.Now()
		if diff := cmp.Diff(answer{503, "Too many comparisons are in progress; try again in a few seconds"}, w.ask(t.Context(), "bob", "?impact=false", shops("large", anything))); diff != "" {
			t.Errorf("a comparison waits a while for its turn; -want +got:\n%s", diff)
		}
		if waited := time.Since(began); waited != patience {
			t.Errorf("a comparison waited %v for its turn, want %v", waited, patience)
		}
		// The others of the first caller have waited as long.
		synctest.Wait()
		close(release)
		done := map[int]int{}
		for range mostOpen {
			done[(<-all).Status]++
		}
		if diff := cmp.Diff(map[int]int{200: 1, 503: mostOpen - 1}, done); diff != "" || most.Load() != 1 {
			t.Errorf("%d comparisons ran at once; -want +got:\n%s", most.Load(), diff)
		}
		var wait []answer
		for range mostOpen {
			go func() { all <- w.ask(t.Context(), "ada", "?impact=false", shops("large", anything)) }()
		}
		for range mostOpen {
			wait = append(wait, <-all)
		}
		if diff := cmp.Diff([]answer{{Status: 200}, {Status: 200}, {Status: 200}, {Status: 200}}, wait); diff != "" || most.Load() != 1 {
			t.Errorf("comparisons that wait are not made, %d at once; -want +got:\n%s", most.Load(), diff)
		}
	})
}

// TestVersions compares versions: that a version does not exist is another error than that
// its schema cannot be compared.
func TestVersions(t *testing.T) {
	broken := `{type: object, properties: {spec: {type: 5}}}`
	cases := map[string]struct {
		reason, text, query string
		status              int
		message             string
	}{
		"Compared": {"Versions are compared.", shops("small", anything), "?from=v1&to=v2", 200, ""},
		"From":     {"The first version does not exist.", shops("small", anything), "?from=v0&to=v2", 404, "shops.example.org has no version v0"},
		"To":       {"The second version does not exist.", shops("small", broken), "?from=v1&to=v9", 404, "shops.example.org has no version v9"},
		"Broken":   {"A schema cannot be compared.", shops("small", broken), "?from=v1&to=v2", 409, `Versions v1 and v2 of shops.example.org cannot be compared: cannot read the schema of version "v2"`},
		"One":      {"Two versions are given.", shops("small", anything), "?from=v1", 400, "from and to must be given together"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.text)
			rec := httptest.NewRecorder()
			err := w.api.versions(rec, httptest.NewRequest(http.MethodGet, "/versions/template/default/shops"+tc.query, nil))
			if err == nil {
				var got versionsAnswer
				if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || tc.status != 200 || len(got.Changes) == 0 {
					t.Errorf("%s Got %v, %s", tc.reason, err, rec.Body)
				}
				return
			}
			fault, ok := errors.AsType[*rest.Fault](err)
			if !ok || fault.Status != tc.status || !strings.HasPrefix(fault.Message, tc.message) || tc.message == "" {
				t.Errorf("%s Got %#v", tc.reason, err)
			}
		})
	}
}

// TestHiddenCounts counts the resources that are left out.
func TestHiddenCounts(t *testing.T) {
	var h hiddenCounts
	for _, name := range []string{"west", "east", "west"} {
		h.add(name)
	}
	want := []string{
		"1 resource of cluster east is not validated: you lack permission cluster.resource.read for it",
		"2 resources of cluster west are not validated: you lack permission cluster.resource.read for them",
	}
	if diff := cmp.Diff(want, h.lines()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
