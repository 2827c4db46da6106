package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	"example.dev/ingestor/test/gitserver"
)

// noise returns text that does not compress.
func noise(n int) string {
	random := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = random.Read(b)
	return string(b)
}

// TestFetched checks the requests that are sent.
func TestFetched(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", files("old.yaml"))
	r.commit("master", with(files("a.yaml", "defs/b.yaml"), "big.bin", noise(1<<20)))
	var rec recorder
	at := gitserver.Serve(t, r.dir, rec.guard)
	set, err := New(at, Options{Path: "defs"}).Read(t.Context())
	if asked := rec.take(); err != nil || !slices.Equal(origins(set), []string{"defs/b.yaml"}) || len(asked) != 2 || !strings.Contains(asked[1], "deepen 1\n") {
		t.Errorf("read: %v, requests %q; want one commit to be fetched", err, asked)
	}
	if _, err := New(at, Options{}).Head(t.Context()); err != nil {
		t.Error(err)
	}
	if asked := rec.take(); len(asked) != 1 || !strings.HasPrefix(asked[0], "GET ") {
		t.Errorf("requests of Head are %q, want only a list", asked)
	}
	if set, err := New(at, Options{Ref: old.String()}).Read(t.Context()); err != nil || !slices.Equal(origins(set), []string{"old.yaml"}) {
		t.Errorf("read of an old commit: %v", err)
	}
	if _, err := New(at, Options{Path: "defs", MaxBytes: 512 << 10}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "size limit exceeded: 524288 bytes") || !strings.Contains(hints(err), "a smaller repository") {
		t.Errorf("read of a repository that is too large: %v, %q", err, hints(err))
	}
	srv := gitserver.ServeSSH(t, r.dir)
	for at, opts := range map[string]Options{
		at:      {Ref: strings.Repeat("a", 40)},
		srv.URL: {Ref: old.String(), Auth: sshAuth(srv)},
	} {
		_, err := New(at, opts).Read(t.Context())
		if err == nil || !strings.Contains(err.Error(), "not our ref") || !strings.Contains(hints(err), "specify a branch or tag") {
			t.Errorf("read of a commit that the server does not serve: %v, %q", err, hints(err))
		}
	}
}

// TestPacked reads a repository after git gc: packs with deltas, packed refs,
// and different kinds of clones.
func TestPacked(t *testing.T) {
	gitserver.Need(t)
	r := newRepo(t)
	text := definition("x")
	for i := range 200 {
		text += fmt.Sprintf("# %d %x\n", i, noise(8))
	}
	for i := range 30 {
		r.commit("master", map[string]string{"a.yaml": text + fmt.Sprint("# ", i), "d/b.yaml": fmt.Sprint("# ", i, "\n") + text})
	}
	last := r.commit("master", map[string]string{"a.yaml": text, "d/b.yaml": text + "# end"})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("-C", r.dir, "gc", "-q", "--aggressive")
	tree := filepath.Join(t.TempDir(), "tree")
	git("-C", r.dir, "worktree", "add", "-q", "--detach", tree)
	shallow := filepath.Join(t.TempDir(), "shallow")
	git("clone", "-q", "--depth=1", "file://"+r.dir, shallow)
	for name, at := range map[string]string{"Bare": r.dir, "WorkTree": tree, "Shallow": shallow, "HTTP": gitserver.Serve(t, r.dir, nil)} {
		t.Run(name, func(t *testing.T) {
			s := New(at, Options{})
			set, err := s.Read(t.Context())
			if err != nil || s.Commit() != last.String() {
				t.Fatalf("Read: %v, Commit() = %s", err, s.Commit())
			}
			if diff := cmp.Diff([]string{"a.yaml", "d/b.yaml"}, origins(set)); diff != "" {
				t.Errorf("files read (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCancelHTTP cancels at every step where a server can block.
func TestCancelHTTP(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	backend := gitserver.Handler(t, filepath.Dir(r.dir))
	enough := errors.New("enough")
	hang := map[string]func(w http.ResponseWriter, req *http.Request) bool{
		"Refs": func(_ http.ResponseWriter, req *http.Request) bool { return req.Method == http.MethodGet },
		"Pack": func(_ http.ResponseWriter, req *http.Request) bool { return req.Method == http.MethodPost },
		"Body": func(w http.ResponseWriter, req *http.Request) bool {
			if req.Method == http.MethodPost {
				fmt.Fprint(w, "00")
				_ = http.NewResponseController(w).Flush()
				return true
			}
			return false
		},
	}
	for name, hangs := range hang {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			released := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if hangs(w, req) {
					cancel(enough)
					<-released
					return
				}
				backend.ServeHTTP(w, req)
			}))
			defer srv.Close()
			defer close(released)
			mustReturn(t, func() {
				if _, err := New(srv.URL+"/defs.git", Options{}).Read(ctx); !errors.Is(err, enough) {
					t.Errorf("Read: %v", err)
				}
			})
			mustReturn(t, func() {
				s := New(srv.URL+"/defs.git", Options{Timeout: 50 * time.Millisecond})
				if _, err := s.Read(t.Context()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(hints(err), "set a longer timeout") {
					t.Errorf("Read: %v", err)
				}
			})
		})
	}
}

// TestNothingOnDisk checks that reading writes no files.
func TestNothingOnDisk(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := gitserver.ServeSSH(t, r.dir)
	web := gitserver.Serve(t, r.dir, nil)
	empty := t.TempDir()
	for _, name := range []string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, empty)
	}
	t.Chdir(empty)
	before := listing(t, r.dir)
	for name, s := range map[string]*Source{
		"Local": New(r.dir, Options{}),
		"HTTP":  New(web, Options{Auth: Auth{Token: source.Secret("x")}}),
		"SSH":   New(srv.URL, Options{Auth: sshAuth(srv)}),
	} {
		if _, err := s.Read(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Head(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := listing(t, empty); len(got) != 1 {
		t.Errorf("files were written: %q", got)
	}
	if diff := cmp.Diff(before, listing(t, r.dir)); diff != "" {
		t.Errorf("repository was changed (-before +after):\n%s", diff)
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
