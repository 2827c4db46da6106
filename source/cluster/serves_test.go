package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

func TestServes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// status and verbs are the response of the server for the kind.
		status int
		verbs  string
		want   bool
		fails  bool
	}{
		"Served":  {"A kind that can be created is served.", http.StatusOK, `"verbs":["create","get","list"]`, true, false},
		"Ending":  {"A kind that cannot be created is being removed.", http.StatusOK, `"verbs":["delete","get","list","watch"]`, false, false},
		"Silent":  {"A kind without verbs is taken as served.", http.StatusOK, `"namespaced":true`, true, false},
		"Gone":    {"A missing version serves nothing.", http.StatusNotFound, "", false, false},
		"Unknown": {"Without permission for discovery the result is unknown.", http.StatusForbidden, "", false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.status)
				switch {
				case tc.status != http.StatusOK:
					fmt.Fprint(w, `{"kind":"Status","status":"Failure"}`)
				case strings.HasSuffix(r.URL.Path, "/apis/example.org/v1"):
					fmt.Fprintf(w, `{"kind":"APIResourceList","groupVersion":"example.org/v1","resources":[{"name":"boats","kind":"Boat",%s}]}`, tc.verbs)
				}
			}))
			defer srv.Close()
			c, err := cluster.Connect(source.Cluster{Name: "it", URL: srv.URL, Token: "t"}, cluster.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Serves(t.Context(), cluster.Resource{Group: "example.org", Version: "v1", Plural: "boats"})
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("%s\ngot %v, %v", tc.reason, got, err)
			}
		})
	}
}
