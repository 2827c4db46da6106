// Package web_test drives the portal in a real browser, against a real backend
// and a real API server. The browser tests are in web/e2e; this package starts
// what they need and lets them cause outages.
package web_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/test/issuer"
)

const (
	sources  = "../../web"
	chromium = "/usr/bin/chromium"
	// patience is the timeout of all browser tests together, on a busy machine.
	patience = 60 * time.Minute
	// screenshots is the environment variable with the folder for screenshots; without it there are none.
	screenshots = "INGESTOR_SCREENSHOTS"
	// only is the environment variable with the specs to run.
	only = "INGESTOR_JOURNEYS"
	// corpus is the environment variable with the folder of real definitions.
	corpus = "INGESTOR_CORPUS"
)

var update = flag.Bool("update", false, "rewrite the pictures that pages are compared with")

// worlds are the journeys that share a portal and its clusters. The worlds run
// concurrently: a browser waits most of the time.
var worlds = map[string][]string{
	"Developer": {"outage", "catalog", "choices", "create", "daytwo", "form", "home", "newcomer", "rules", "session"},
	living:      {"living"},
	"Engineer":  {"corpus", "engineer", "entity", "markup", "operator", "scale", "workloads"},
}

// living is the world whose cluster has the real Crossplane.
const living = "Living"

func TestJourneys(t *testing.T) {
	playwright, err := filepath.Abs(filepath.Join(sources, "node_modules", ".bin", "playwright"))
	if err != nil {
		t.Fatal(err)
	}
	for path, how := range map[string]string{
		chromium:   "make chromium installs it",
		playwright: "make web installs it",
		filepath.Join(sources, "dist", "index.html"): "make web builds it",
	} {
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is missing: %s", path, how)
		}
	}
	readJourneys(t)
	if named := strings.Fields(os.Getenv(only)); len(named) > 0 {
		ofLiving := slices.Contains(named, worlds[living][0]+".spec.ts")
		if ofLiving && len(named) > 1 {
			t.Fatalf("%s has clusters of its own: run it alone", named)
		}
		runJourneys(t, playwright, named, ofLiving)
		return
	}
	for name, specs := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := make([]string, len(specs))
			for i, spec := range specs {
				files[i] = spec + ".spec.ts"
			}
			runJourneys(t, playwright, files, name == living)
		})
	}
}

// runJourneys starts a world and runs the named journeys in it.
func runJourneys(t *testing.T, playwright string, named []string, withCrossplane bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	i := issuer.Start(t, issuer.Options{Groups: []string{"platform-team"}, Redirect: base + "/api/auth/oidc/handler/frame"})
	git := repositories(t)
	w := &world{t: t, address: l.Addr().String(), log: &tail{}, away: map[string]bool{}}
	planner := ""
	w.clusters, planner = clustersFor(t, withCrossplane)
	w.config, w.file = configure(t, base, w.clusters, i, git)
	w.config.Plan.Program = planner
	w.up(l)
	t.Cleanup(w.down)

	commands := make(chan command)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	mux := http.NewServeMux()
	mux.Handle("/", controls(ctx, commands))
	mux.Handle("POST /cli", shell(t, w.file))
	control := httptest.NewServer(mux)
	defer control.Close()

	args := []string{"test"}
	if *update {
		args = append(args, "--update-snapshots=all")
	}
	cmd := exec.CommandContext(ctx, playwright, append(args, named...)...)
	cmd.Dir = sources
	cmd.Env = append(os.Environ(), "BASE_URL="+base, "CONTROL_URL="+control.URL, "ISSUER_URL="+i.URL, "SERVICE_TOKEN="+serviceToken,
		"CHROMIUM="+chromium, "REPOSITORIES="+git, "SCREENSHOTS="+os.Getenv(screenshots), "ARTIFACTS="+t.TempDir(), "FORCE_COLOR=0", "CI=1", corpus+"="+os.Getenv(corpus))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case c := <-commands:
			// Commands may call t.Fatal, so they run in the test's goroutine.
			c.done <- w.do(c)
		case err := <-ended:
			t.Logf("playwright:\n%s", out.String())
			if err != nil {
				t.Errorf("the browser tests failed: %v\nend of the portal's log:\n%s", err, w.log)
			}
			return
		}
	}
}

// clustersFor starts the clusters of a world, and returns the program that makes plans with
// the real Crossplane; it is empty without.
func clustersFor(t *testing.T, withCrossplane bool) (all map[string]*apiserver.Server, planner string) {
	t.Helper()
	if withCrossplane {
		all = startClusters(t, map[string]apiserver.Options{usual: {CRDs: "none"}})
		core := crossplane.Start(t, all[usual])
		core.Define(t, crossplane.Definitions)
		all[usual].Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shops}}\n")
		planner, err := core.Program()
		if err != nil {
			t.Fatal(err)
		}
		return all, planner
	}
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return startClusters(t, map[string]apiserver.Options{
		usual:  {CRDs: "both", XRCRDs: true, ReadyAfter: 2 * time.Second, Apply: append(examples, "../../examples/cluster")},
		"prod": {XRCRDs: true, Apply: []string{"testdata/prod.yaml"}},
	}), ""
}

// readJourneys reads the journeys, so that go test does not use a cached result
// when one has changed, and checks that each of them is in a world.
func readJourneys(t *testing.T) {
	t.Helper()
	left := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(sources, "e2e"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if spec, ok := strings.CutSuffix(d.Name(), ".spec.ts"); ok {
			left[spec] = true
		}
		_, err = os.ReadFile(path)
		return err
	})
	for _, name := range []string{"playwright.config.ts", "package-lock.json"} {
		_, oneErr := os.ReadFile(filepath.Join(sources, name))
		err = errors.Join(err, oneErr)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, specs := range worlds {
		for _, spec := range specs {
			if !left[spec] {
				t.Errorf("%s.spec.ts does not exist, or is in two worlds", spec)
			}
			delete(left, spec)
		}
	}
	for spec := range left {
		t.Errorf("%s.spec.ts is in no world, and would not run", spec)
	}
}

// command is a control command of a browser test.
type command struct {
	what, cluster, method, path string
	body                        []byte
	// answer is the response, and done receives the result.
	answer *bytes.Buffer
	done   chan error
}

// controls passes commands on and waits for their results:
//
//	POST /portal/down, /portal/up
//	POST /cluster/down, /cluster/up
//	POST /cluster/apply, with manifests
//	POST /cluster/request?method=PATCH&path=/apis/…, with a body for the API server; returns its response
//
// The cluster is dev, unless ?cluster=prod is set.
func controls(ctx context.Context, commands chan<- command) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		q := r.URL.Query()
		c := command{what: r.URL.Path, cluster: cmp.Or(q.Get("cluster"), usual), method: q.Get("method"), path: q.Get("path"), body: body, answer: &bytes.Buffer{}, done: make(chan error, 1)}
		select {
		case commands <- c:
		case <-ctx.Done():
			http.Error(w, "the test is over", http.StatusGone)
			return
		}
		if err := <-c.done; err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// An error means that the client has disconnected.
		_, _ = w.Write(c.answer.Bytes())
	})
}
