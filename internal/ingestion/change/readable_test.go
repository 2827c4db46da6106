package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// fleetSize is more than the resources that are looked up at once, listed, or named.
const fleetSize = 6000

// fleet starts an API server with small shops that are written in v1: those of the team zeta
// come last. It returns the API, whose callers may read the entities of a team.
func fleet(t *testing.T, readable func(ctx context.Context, refs []string) ([]bool, error)) *Changes {
	t.Helper()
	type object = map[string]any
	items := make([]object, fleetSize)
	for i := range items {
		name := fmt.Sprintf("alpha-%04d", i)
		if i >= fleetSize-3 {
			name = fmt.Sprintf("zeta-%04d", i)
		}
		items[i] = object{"apiVersion": "example.org/v1", "kind": "Shop", "spec": object{"size": "small"}, "metadata": object{
			"name": name, "namespace": "team",
			"managedFields": []object{{"manager": "kubectl", "operation": "Apply", "apiVersion": "example.org/v0", "fieldsV1": object{"f:spec": object{}}}},
		}}
	}
	answers := map[string]object{
		"/apis/example.org/v1":       {"kind": "APIResourceList", "resources": []object{{"name": "shops"}}},
		"/apis/example.org/v1/shops": {"kind": "ShopList", "apiVersion": "example.org/v1", "metadata": object{"resourceVersion": "1"}, "items": items},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // The client sees that it is cut off.
	}))
	t.Cleanup(server.Close)
	on, err := cluster.Connect(source.Cluster{Name: "one", URL: server.URL, Token: "x"}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known := ingested(t, shops("small, large", anything))
	known.Clusters = []Cluster{{Name: "one", Cluster: on}}
	return New(Options{
		Policy:     permission.New(config.Permission{}),
		Ingested:   func(context.Context, string) (Ingested, bool, error) { return known, true, nil },
		Definition: func(context.Context, entity.Ref) (Ingested, error) { return known, nil },
		Cluster:    func(context.Context, string) (*cluster.Cluster, error) { return on, nil },
		Readable:   readable,
	})
}

// sent sends a request as a user.
func sent(t *testing.T, handle func(http.ResponseWriter, *http.Request) error, method, body string, into any) error {
	t.Helper()
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	r = r.WithContext(identity.With(t.Context(), identity.Caller{Kind: identity.User, Subject: "user:default/zoe"}))
	rec := httptest.NewRecorder()
	if err := handle(rec, r); err != nil {
		return err
	}
	if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
		t.Fatal(err)
	}
	return nil
}

// TestReadable checks that callers see their own resources of a large fleet, wherever they
// are in it, and no others.
func TestReadable(t *testing.T) {
	zeta := []string{"zeta-5997", "zeta-5998", "zeta-5999"}
	cases := map[string]struct {
		reason   string
		readable string
		want     []string
		most     int
	}{
		"Last":  {"Resources that are read last are listed.", "resource:default/zeta-", zeta, 3},
		"None":  {"Resources of others are only counted.", "resource:default/gamma-", nil, 0},
		"Every": {"Not all readable resources are listed.", "resource:default/", []string{"alpha-0000", "alpha-0001", "alpha-0002"}, mostNames},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := fleet(t, func(_ context.Context, refs []string) ([]bool, error) {
				if len(refs) > lookups {
					t.Errorf("%d entities are looked up at once", len(refs))
				}
				out := make([]bool, len(refs))
				for i, ref := range refs {
					out[i] = strings.HasPrefix(ref, tc.readable)
				}
				return out, nil
			})
			var usage Usage
			if err := sent(t, c.usage, http.MethodGet, "", &usage); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range usage.Resources[:min(len(usage.Resources), 3)] {
				names = append(names, r.Name)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" || len(usage.Resources) != tc.most || usage.Hidden != fleetSize-tc.most {
				t.Errorf("%s\n%d resources are listed, %d hidden; names (-want +got):\n%s", tc.reason, len(usage.Resources), usage.Hidden, diff)
			}
			var impact Answer
			if err := sent(t, c.impact, http.MethodPost, shops("large", anything), &impact); err != nil {
				t.Fatal(err)
			}
			e := impact.Impact.Definitions[0].Effects[0]
			names = nil
			for _, r := range e.Resources[:min(len(e.Resources), 3)] {
				names = append(names, r.Name)
				if !strings.HasPrefix(r.Entity, tc.readable) {
					t.Errorf("entity of %s is %q", r, r.Entity)
				}
			}
			if diff := cmp.Diff(tc.want, names); diff != "" || len(e.Resources) != tc.most || e.Count != fleetSize {
				t.Errorf("%s\n%d of %d resources are named; names (-want +got):\n%s", tc.reason, len(e.Resources), e.Count, diff)
			}
		})
	}
	t.Run("Outage", func(t *testing.T) {
		down := rest.Unavailable(errors.New("down"), "The catalog cannot be read")
		c := fleet(t, func(context.Context, []string) ([]bool, error) { return nil, down })
		var ignored any
		if err := sent(t, c.usage, http.MethodGet, "", &ignored); !errors.Is(err, down) {
			t.Errorf("A catalog that cannot be read fails the list: got %v", err)
		}
		if err := sent(t, c.impact, http.MethodPost, shops("large", anything), &ignored); !errors.Is(err, down) {
			t.Errorf("A catalog that cannot be read fails the comparison: got %v", err)
		}
	})
}
