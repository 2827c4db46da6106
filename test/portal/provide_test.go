package portal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/provide"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/test/process"
)

// provided is the result of a run of portal-provide.
type provided struct {
	code     int
	out, err string
}

// runProvide runs portal-provide in this process against a portal.
func runProvide(t *testing.T, base, stdin string, args ...string) provided {
	t.Helper()
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: append(args, "--api-url", base), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &notes, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"PORTAL_TOKEN": theToken}[name] },
	}
	code := app.Run(t.Context(), provide.Name, env, provide.Run)
	if strings.Contains(out.String()+notes.String(), theToken) {
		t.Errorf("output of %q contains the token", args)
	}
	return provided{code, out.String(), notes.String()}
}

// resources returns n small entities, one per line.
func resources(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"apiVersion":"backstage.io/v1alpha1","kind":"Resource","metadata":{"name":"r%06d","description":%q},"spec":{"type":"x","owner":"group:default/team"}}`+"\n",
			i, strings.Repeat("what it is for ", 60))
	}
	return b.String()
}

// TestProvideMany pushes many entities, and checks that the same push again
// changes nothing.
func TestProvideMany(t *testing.T) {
	w := start(t, setup{})
	text := resources(3000)
	for _, want := range []string{"added 3000, updated 0, removed 0, unchanged 0, refused 0\n", "added 0, updated 0, removed 0, unchanged 3000, refused 0\n"} {
		if got := runProvide(t, w.base, text); got.code != 0 || got.out != want {
			t.Fatalf("portal-provide returned %+v, want %q", got, want)
		}
	}
}

// slow is a reader that stops half-way until it is released.
type slow struct {
	io.ReadSeeker
	half, read int64
	reached    func()
	release    <-chan struct{}
}

func (s *slow) Read(p []byte) (int, error) {
	if s.read > s.half {
		s.reached()
		<-s.release
	}
	n, err := s.ReadSeeker.Read(p)
	s.read += int64(n)
	return n, err
}

// TestProvideKilled kills the portal during a push, and checks that the
// restarted portal has the state before the push.
func TestProvideKilled(t *testing.T) {
	database := sqlite(t)
	p := launch(t, setup{database: database}, 0)
	if got := runProvide(t, p.base, component("before")); got.code != 0 {
		t.Fatalf("portal-provide returned %+v, want exit code 0", got)
	}
	to, err := portal.New(p.base, portal.Options{Token: func() (string, error) { return theToken, nil }, Retries: 1, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	text := resources(5000)
	release := make(chan struct{})
	lines := &slow{ReadSeeker: strings.NewReader(text), half: int64(len(text) / 2), release: release, reached: sync.OnceFunc(func() {
		go func() {
			p.Kill()
			close(release)
		}()
	})}
	_, err = to.Push(t.Context(), lines, portal.PushOptions{})
	if e, ok := errors.AsType[*portal.Error](err); !ok || e.Unsure || e.Problem != portal.Unreachable && e.Problem != portal.Interrupted {
		t.Errorf("got %v, want to be told that the catalog is unchanged", err)
	}
	p = launch(t, setup{database: database}, 0)
	if !p.exists("component/default/before") || p.total() != 1 {
		t.Errorf("catalog has %d entities, want the one from before", p.total())
	}
}

// TestProvideTorn aborts a push on the client's side, and checks that the
// catalog is unchanged.
func TestProvideTorn(t *testing.T) {
	w := start(t, setup{})
	w.push("portal-provide", component("before"))
	to, err := portal.New(w.base, portal.Options{Token: func() (string, error) { return theToken, nil }})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	text := resources(2000)
	_, err = to.Push(t.Context(), io.MultiReader(strings.NewReader(text), failing{broken}), portal.PushOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("push returned %v, want the error of the reader", err)
	}
	if r := w.push("portal-provide", component("before")); r.Unchanged != 1 || r.Removed != 0 {
		t.Errorf("catalog changed: %+v", r)
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestProvideGuest checks that a caller without permission is rejected before
// much data is sent.
func TestProvideGuest(t *testing.T) {
	w := start(t, setup{})
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(w.guest()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runProvide(t, w.base, component("a"), "--token-file", path, "--allow-removals")
	if got.code != app.ExitFailed || got.out != "" || !strings.Contains(got.err, "403 Forbidden: NotAllowedError") || !strings.Contains(got.err, "the catalog is unchanged") {
		t.Errorf("got %+v", got)
	}
}

// TestProvideServe checks that the portal reads the entities that
// portal-provide serves, and follows their changes.
func TestProvideServe(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.json", component("a"))
	l := listen(t)
	address := l.Addr().String()
	_ = l.Close()
	w := start(t, setup{allow: []string{address}, sections: map[string]any{"catalog": map[string]any{
		"locationTypes": []string{"url"}, "rules": []any{map[string]any{"allow": []string{"Component", "Location"}}},
		"processingInterval": "1s",
	}}})
	var out, notes process.Log
	env := &app.Env{
		Args: []string{"serve", dir, "--listen", address, "--api-url", w.base}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"PORTAL_TOKEN": theToken}[name] },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- app.Run(ctx, provide.Name, env, provide.Run) }()
	defer func() {
		cancel()
		if code := <-ended; code != app.ExitOK || strings.Contains(notes.String(), theToken) {
			t.Errorf("portal-provide ended with exit code %d:\n%s", code, notes.String())
		}
	}()
	w.until("the entity is there", func() bool { return w.exists("component/default/a") })
	write("b.json", component("b"))
	w.until("the change is there", func() bool { return w.exists("component/default/b") })
	write("a.json", "{")
	w.until("the mistake is noticed", func() bool { return strings.Contains(notes.String(), "serving the previous entities") })
	if err := os.Remove(filepath.Join(dir, "a.json")); err != nil {
		t.Fatal(err)
	}
	w.until("the deleted entity leaves the catalog", func() bool { return !w.exists("component/default/a") })
	if !w.exists("component/default/b") || !regexp.MustCompile(`location registered.*before=false`).MatchString(notes.String()) {
		t.Errorf("one remains:\n%s", notes.String())
	}
}

// TestProvideUnknownLocation checks that portal-provide prints a hint if the
// portal may not read its URL.
func TestProvideUnknownLocation(t *testing.T) {
	w := start(t, setup{})
	var out, notes process.Log
	env := &app.Env{
		Args: []string{"serve", "--listen", "127.0.0.1:0", "--api-url", w.base}, Stdin: strings.NewReader(component("a")), Stdout: &out, Stderr: &notes, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"PORTAL_TOKEN": theToken}[name] },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- app.Run(ctx, provide.Name, env, provide.Run) }()
	w.until("the hint is there", func() bool { return strings.Contains(notes.String(), "backend.reading.allow") })
	cancel()
	if code := <-ended; code != app.ExitOK {
		t.Errorf("portal-provide ended with exit code %d:\n%s", code, notes.String())
	}
}
