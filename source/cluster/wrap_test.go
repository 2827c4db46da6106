package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// roundTripper is a function as an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestWrap checks that a wrapper sees every call, also those as a user, and no
// credentials.
func TestWrap(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cr3t" {
			t.Error("the server got no token")
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"example.org/v1","resources":[]}`)
	}))
	defer srv.Close()
	var seen []string
	c, err := cluster.Connect(source.Cluster{Name: "it", URL: srv.URL, Token: "s3cr3t", Impersonate: true}, cluster.Options{
		Wrap: func(name string, next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("Authorization") != "" {
					t.Error("the wrapper sees the token")
				}
				seen = append(seen, name+" "+r.URL.Path)
				return next.RoundTrip(r)
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	user, err := c.As("ada", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*cluster.Cluster{c, user} {
		if _, err := c.Serves(t.Context(), cluster.Resource{Group: "example.org", Version: "v1", Plural: "boats"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 2 || seen[0] != "it /apis/example.org/v1" || seen[1] != seen[0] {
		t.Errorf("wrapper saw %q", seen)
	}
}
