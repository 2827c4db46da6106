package provide

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
)

// patience is how long a test waits for an event.
const patience = time.Minute

// notes is a buffer that is safe for concurrent use.
type notes struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.String()
}

// serving is a running serve command.
type serving struct {
	t        *testing.T
	address  string
	out, log *notes
	// stop stops the command and returns its exit code.
	stop func() int
}

// startServe starts the command on a free port.
func startServe(t *testing.T, stdin string, args ...string) *serving {
	t.Helper()
	s := &serving{t: t, out: &notes{}, log: &notes{}}
	env := &app.Env{
		Args: append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), Stdin: strings.NewReader(stdin), Stdout: s.out, Stderr: s.log,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() { ended <- app.Run(ctx, Name, env, Run) }()
	s.stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { s.stop() })
	serves := regexp.MustCompile(`serving .* at (http\S+)` + regexp.QuoteMeta(pathYAML))
	s.until("it serves", func() bool {
		found := serves.FindStringSubmatch(s.out.String())
		if found != nil {
			s.address = found[1]
		}
		return found != nil
	})
	return s
}

func (s *serving) until(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("condition was not met: %s:\n%s%s", what, s.out, s.log)
		}
	}
}

// get requests a path; header has pairs of names and values.
func (s *serving) get(method, path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.address+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(text)
}

func (s *serving) health() (status string, entities int) {
	s.t.Helper()
	_, text := s.get(http.MethodGet, pathHealth)
	var body struct {
		Status   string
		Entities int
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		s.t.Fatal(err)
	}
	return body.Status, body.Entities
}

func component(name string) string {
	return `{"apiVersion":"portal.io/v1alpha1","kind":"Component","metadata":{"name":"` + name +
		`"},"spec":{"type":"service","lifecycle":"production","owner":"team"}}` + "\n"
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestServe checks both formats, ETags, and that nothing else is served.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.json"), component("a"))
	put(t, filepath.Join(dir, "b.json"), component("b"))
	s := startServe(t, "", dir)
	if got := s.out.String(); !strings.HasPrefix(got, "serving 2 entities at http://127.0.0.1:") {
		t.Errorf("standard output is %q", got)
	}
	res, lines := s.get(http.MethodGet, pathNDJSON)
	if res.Header.Get("Content-Type") != "application/x-ndjson" || lines != component("a")+component("b") {
		t.Errorf("response is %v %s", res.Header, lines)
	}
	res, yaml := s.get(http.MethodGet, pathYAML)
	tag := res.Header.Get("ETag")
	if !regexp.MustCompile(`^"[0-9a-f]{32}"$`).MatchString(tag) || !strings.HasPrefix(yaml, "---\napiVersion: portal.io/v1alpha1\n") || strings.Count(yaml, "---\n") != 2 {
		t.Errorf("ETag is %s, body is %s", tag, yaml)
	}
	head, none := s.get(http.MethodHead, pathYAML)
	if head.StatusCode != http.StatusOK || none != "" || head.ContentLength != int64(len(yaml)) || head.Header.Get("ETag") != tag {
		t.Errorf("HEAD returned %d %v", head.StatusCode, head.Header)
	}
	for name, want := range map[string]int{tag: http.StatusNotModified, `"other"`: http.StatusOK} {
		if res, _ := s.get(http.MethodGet, pathYAML, "If-None-Match", name); res.StatusCode != want {
			t.Errorf("If-None-Match %s returned %d, want %d", name, res.StatusCode, want)
		}
	}
	for path, want := range map[string]int{"/": http.StatusNotFound, "/a.json": http.StatusNotFound} {
		if res, _ := s.get(http.MethodGet, path); res.StatusCode != want {
			t.Errorf("%s returned %d, want %d", path, res.StatusCode, want)
		}
	}
	if res, _ := s.get(http.MethodPost, pathYAML); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST returned %d, want 405", res.StatusCode)
	}

	// A change is served.
	put(t, filepath.Join(dir, "c.json"), component("c"))
	s.until("the change is served", func() bool { _, n := s.health(); return n == 3 })
	if res, _ := s.get(http.MethodGet, pathYAML, "If-None-Match", tag); res.StatusCode != http.StatusOK || res.Header.Get("ETag") == tag {
		t.Errorf("request after the change returned %d %s", res.StatusCode, res.Header.Get("ETag"))
	}
	// An invalid change is not served, and reported once.
	put(t, filepath.Join(dir, "c.json"), component("c d"))
	s.until("the mistake is detected", func() bool { status, _ := s.health(); return status == "stale" })
	if _, lines := s.get(http.MethodGet, pathNDJSON); lines != component("a")+component("b")+component("c") {
		t.Errorf("entities after a failed reload are %s, want the previous ones", lines)
	}
	put(t, filepath.Join(dir, "c.json"), component("e"))
	s.until("the mistake is fixed", func() bool { status, n := s.health(); return status == "ok" && n == 3 })
	if log := s.log.String(); strings.Count(log, "c.json:1:67: error: name") != 1 || strings.Count(log, "reload failed, serving the previous entities") != 1 || strings.Contains(log, "nothing is served") {
		t.Errorf("mistake or its consequence was not logged exactly once:\n%s", log)
	}
	if code := s.stop(); code != app.ExitOK {
		t.Errorf("exit code %d:\n%s", code, s.log)
	}
}

// TestServeStdin checks that piped entities are served.
func TestServeStdin(t *testing.T) {
	s := startServe(t, component("a"))
	if status, n := s.health(); status != "ok" || n != 1 {
		t.Errorf("health is %s with %d entities", status, n)
	}
}

// portalStage starts a portal whose responses change over time.
func portalStage(t *testing.T, statuses ...string) (address string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text, _ := io.ReadAll(r.Body)
		n := min(len(all), len(statuses)-1)
		all = append(all, r.Method+" "+r.URL.RequestURI()+" "+string(text))
		status, body, _ := strings.Cut(statuses[n], " ")
		code := 0
		_, _ = fmt.Sscan(status, &code)
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all[:len(all):len(all)]
	}
}

// TestServeRegisters checks that the URL is registered as soon as the portal
// accepts it, with a hint if the portal cannot read it.
func TestServeRegisters(t *testing.T) {
	address, asked := portalStage(t, `503 {}`, `201 {"location":{"id":"1"},"entities":[]}`,
		`400 {"error":{"name":"InputError","message":"NotAllowedError: Reading from it is not allowed"}}`)
	s := startServe(t, component("a"), "--api-url", address, "--public-url", "http://entities.example.org:7010/below/")
	// The registered URL is the public one.
	s.until("the hint is logged", func() bool { return strings.Contains(s.log.String(), "backend.reading.allow") })
	const target = `{"target":"http://entities.example.org:7010/below/catalog.yaml","type":"url"}`
	if diff := cmp.Diff([]string{
		"POST /api/catalog/locations " + target, "POST /api/catalog/locations " + target, "POST /api/catalog/locations?dryRun=true " + target,
	}, asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	log := s.log.String()
	for _, want := range []string{"location registration failed, retrying", "location registered", "portal failed to read the location"} {
		if strings.Count(log, want) != 1 {
			t.Errorf("%q was not logged exactly once:\n%s", want, log)
		}
	}
	if code := s.stop(); code != app.ExitOK {
		t.Errorf("exit code is %d", code)
	}
}

// TestServeRegistered checks that an existing location is accepted, and that
// registration can be disabled.
func TestServeRegistered(t *testing.T) {
	address, asked := portalStage(t, `409 {"error":{"name":"ConflictError","message":"it exists"}}`, `201 {"entities":[{}]}`)
	s := startServe(t, component("a"), "--api-url", address, "--debug")
	s.until("the read of the portal is logged at level debug", func() bool { return strings.Contains(s.log.String(), `msg="portal read the location" entities=1`) })
	s.stop()
	if log := s.log.String(); len(asked()) != 2 || !strings.Contains(log, "location registered") || !strings.Contains(log, "before=true") || strings.Contains(log, "WARN") {
		t.Errorf("log is %s", log)
	}
	s = startServe(t, component("a"), "--api-url", address, "--no-register")
	s.stop()
	if len(asked()) != 2 {
		t.Errorf("requests to the portal are %q, want no registration", asked())
	}
}
