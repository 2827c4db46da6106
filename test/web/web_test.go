// Package web_test drives the portal in a real browser, against a real backend
// and a real API server. The journeys are in web/e2e; this package starts what
// they need and lets them make bad days happen.
package web_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/issuer"
)

const (
	sources  = "../../web"
	chromium = "/usr/bin/chromium"
	// patience is how long the journeys may take together, on a busy machine.
	patience = 60 * time.Minute
	// Screenshots is the environment variable that names the folder pictures of
	// the pages are kept in.
	screenshots = "INGESTOR_SCREENSHOTS"
	// Only is the environment variable that names the journeys to run.
	only = "INGESTOR_JOURNEYS"
	// Corpus is the environment variable that names the folder of real
	// definitions whose forms are shown.
	corpus = "INGESTOR_CORPUS"
)

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
			t.Skipf("there is no %s: %s", path, how)
		}
	}
	readJourneys(t)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	i := issuer.Start(t, issuer.Options{Groups: []string{"platform-team"}, Redirect: base + "/api/auth/oidc/handler/frame"})
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	git := repositories(t)
	w := &world{t: t, clusters: startClusters(t, map[string]apiserver.Options{
		usual:  {CRDs: "both", XRCRDs: true, ReadyAfter: 2 * time.Second, Apply: append(examples, "../../examples/cluster")},
		"prod": {XRCRDs: true, Apply: []string{"testdata/prod.yaml"}},
	}), address: l.Addr().String(), log: &tail{}, away: map[string]bool{}}
	w.config, w.file = configure(t, base, w.clusters, i, git)
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

	cmd := exec.CommandContext(ctx, playwright, append([]string{"test"}, strings.Fields(os.Getenv(only))...)...)
	cmd.Dir = sources
	cmd.Env = append(os.Environ(), "BASE_URL="+base, "CONTROL_URL="+control.URL, "ISSUER_URL="+i.URL, "SERVICE_TOKEN="+serviceToken,
		"CHROMIUM="+chromium, "REPOSITORIES="+git, "SCREENSHOTS="+pictures(t), "ARTIFACTS="+t.TempDir(), "FORCE_COLOR=0", "CI=1", corpus+"="+os.Getenv(corpus))
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
			// What fails here ends the test: it has to be done by its goroutine.
			c.done <- w.do(c)
		case err := <-ended:
			t.Logf("playwright:\n%s", out.String())
			if err != nil {
				t.Errorf("the journeys failed: %v\nthe end of the portal's log:\n%s", err, w.log)
			}
			return
		}
	}
}

// readJourneys reads what the browser is going to do, so that the result of the
// test is not taken from the cache when it has changed.
func readJourneys(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(sources, "e2e"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
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
}

// pictures is the folder for screenshots.
func pictures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command is something a journey wants done to the world.
type command struct {
	what, cluster, method, path string
	body                        []byte
	// answer is what there is to say to it, and done that it was done.
	answer *bytes.Buffer
	done   chan error
}

// controls passes commands on and waits until they are done:
//
//	POST /portal/down, /portal/up
//	POST /cluster/down, /cluster/up
//	POST /cluster/apply, with manifests
//	POST /cluster/request?method=PATCH&path=/apis/…, with a body for the API server, whose answer comes back
//
// Those of a cluster are for dev, or for ?cluster=prod.
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
		// Whoever does not wait for the answer does not want it.
		_, _ = w.Write(c.answer.Bytes())
	})
}
