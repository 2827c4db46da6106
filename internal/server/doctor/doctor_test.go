package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
)

// TestClusterClocks checks clusters with a wrong clock.
func TestClusterClocks(t *testing.T) {
	for name, c := range map[string]struct {
		ahead  time.Duration
		status string
		says   string
	}{
		"Right":   {0, OK, "within 5s of cluster prod"},
		"Close":   {-4 * time.Second, OK, "within 5s"},
		"Ahead":   {20 * time.Second, Warning, "cluster prod is 20s ahead of this machine"},
		"Behind":  {-20 * time.Second, Warning, "cluster prod is 20s behind this machine"},
		"Far off": {time.Hour, Error, "cluster prod is 1h0m0s ahead of this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked http.Header
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Header
				w.Header().Set("Date", now.Add(c.ahead).Format(http.TimeFormat))
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			e := &examination{Options: Options{Now: func() time.Time { return now }, Config: &config.Config{}}}
			e.Config.Composer.Clusters = []source.Cluster{{Name: "prod", URL: server.URL + "/"}}
			e.clusters(t.Context())
			if len(e.found) != 1 || e.found[0].Check != "clock" || e.found[0].Status != c.status || !strings.HasPrefix(e.found[0].Message, c.says) {
				t.Errorf("findings are %+v, want %s: %s", e.found, c.status, c.says)
			}
			if asked.Get("Authorization") != "" {
				t.Error("cluster got a token")
			}
		})
	}
}

// now has whole seconds, like the Date header of a response.
var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// TestClusterAway checks a cluster that does not respond.
func TestClusterAway(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	e := &examination{Options: Options{Now: time.Now, Config: &config.Config{}}}
	e.Config.Composer.Clusters = []source.Cluster{{Name: "prod", URL: server.URL}, {Name: "by-kubeconfig"}}
	e.clusters(t.Context())
	if len(e.found) != 1 || e.found[0].Status != Warning || !strings.HasPrefix(e.found[0].Message, "cannot read the time of cluster prod: ") || e.found[0].Hint == "" {
		t.Errorf("findings are %+v", e.found)
	}
}

func TestFreeSpace(t *testing.T) {
	e := &examination{}
	for _, free := range []uint64{0, 64<<20 - 1, 64 << 20, 1<<30 - 1, 1 << 30} {
		e.free("the database", "/data", "free some space", free)
	}
	want := []Result{
		{"disk", Error, "the database: /data has only 0 kB free", "free some space"},
		{"disk", Error, "the database: /data has only 67 MB free", "free some space"},
		{"disk", Warning, "the database: /data has only 67 MB free", "free some space"},
		{"disk", Warning, "the database: /data has only 1.1 GB free", "free some space"},
		{"disk", OK, "the database: /data is writable and has 1.1 GB free", ""},
	}
	if diff := cmp.Diff(want, e.found); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWorst(t *testing.T) {
	for want, found := range map[string][]Result{
		OK:      {{Status: OK}, {Status: OK}},
		Warning: {{Status: OK}, {Status: Warning}, {Status: OK}},
		Error:   {{Status: Error}, {Status: Warning}, {Status: OK}},
	} {
		if got := Worst(found); got != want {
			t.Errorf("worst status is %s, want %s", got, want)
		}
	}
}
