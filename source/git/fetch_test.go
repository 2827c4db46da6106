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

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// noise is text that does not compress.
func noise(n int) string {
	random := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = random.Read(b)
	return string(b)
}

// TestFetched looks at what goes over the wire.
func TestFetched(t *testing.T) {
	big := strings.Repeat("# a long remark\n", 200)
	content := with(files("a.yaml", "defs/b.yaml"), "defs/c.yaml", big+definition("c"), "big.bin", noise(1<<20), "defs/l.yaml", link+"../other.yaml", "other.yaml", big+definition("other"))
	r := newRepo(t)
	r.commit("master", files("old.yaml"))
	old := r.commit("master", content)
	r.commit("master", with(content, "more.yaml", definition("more")))
	var rec recorder
	at := serveHTTP(t, r, rec.guard)
	read := func(opts Options) ([]string, []string) {
		t.Helper()
		set, err := New(at, opts).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return origins(set), rec.take()
	}
	some := []string{"defs/b.yaml", "defs/c.yaml", "defs/l.yaml"}

	got, asked := read(Options{Path: "defs"})
	if !slices.Equal(got, some) || len(asked) != 2 || !strings.Contains(asked[1], "deepen 1\n") {
		t.Errorf("without filters: %q, asked %q", got, asked)
	}
	if _, err := New(at, Options{Path: "defs", MaxBytes: 512 << 10}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "more than the 512 KiB") {
		t.Errorf("a repository that is too large: %v", err)
	}
	rec.take()

	r.configure("[uploadpack]\n\tallowFilter = true\n")
	got, asked = read(Options{Path: "defs"})
	if !slices.Equal(got, some) || len(asked) < 3 || !strings.Contains(asked[1], "filter blob:limit=1k\n") {
		t.Errorf("files by themselves are not given out: %q, asked %q", got, asked)
	}

	r.configure("\tallowAnySHA1InWant = true\n")
	got, asked = read(Options{Path: "defs", MaxBytes: 512 << 10})
	if !slices.Equal(got, some) || len(asked) != 3 || strings.Count(asked[2], "want ") != 2 {
		t.Errorf("only the files that are read are fetched: %q, asked %q", got, asked)
	}
	got, asked = read(Options{Path: "defs/b.yaml"})
	if !slices.Equal(got, []string{"defs/b.yaml"}) || len(asked) != 2 {
		t.Errorf("a small file comes along: %q, asked %q", got, asked)
	}
	if got, asked = read(Options{Ref: old.String()}); len(got) != 4 || len(asked) != 2 {
		t.Errorf("a commit that is given out: %q, asked %q", got, asked)
	}
	got, asked = read(Options{Ref: old.String()[:10]})
	if len(got) != 4 || len(asked) != 3 || !strings.Contains(asked[1], "filter tree:0\n") {
		t.Errorf("digits take only commits: %q, asked %q", got, asked)
	}

	s := New(at, Options{Ref: old.String()[:10]})
	for i := range 2 {
		if head, err := s.Head(t.Context()); err != nil || head != old.String() {
			t.Errorf("Head: %q, %v", head, err)
		}
		if asked := rec.take(); len(asked) != 2-i {
			t.Errorf("digits are looked for once: asked %q", asked)
		}
	}
	if _, err := New(at, Options{}).Head(t.Context()); err != nil {
		t.Error(err)
	}
	if asked := rec.take(); len(asked) != 1 || !strings.HasPrefix(asked[0], "GET ") {
		t.Errorf("Head only lists: asked %q", asked)
	}
	if _, err := New(at, Options{Ref: strings.Repeat("a", 40)}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "it has no commit") {
		t.Errorf("a commit that is not there: %v", err)
	}
}

// TestAmbiguous writes too few digits.
func TestAmbiguous(t *testing.T) {
	all := []plumbing.Hash{plumbing.NewHash("abcd" + strings.Repeat("1", 36)), plumbing.NewHash("abcd" + strings.Repeat("2", 36))}
	_, err := only(all, "abcd")
	if err == nil || err.Error() != `several commits begin with "abcd"` || !strings.Contains(explain(err).hint, all[1].String()) {
		t.Errorf("only: %v", err)
	}
	if h, err := only(all, "abcd2"); err != nil || h != all[1] {
		t.Errorf("only: %v, %v", h, err)
	}
}

// TestPacked reads a repository after Git put it in order: packs with deltas,
// names in one file, and a clone that borrows the objects of another.
func TestPacked(t *testing.T) {
	needGit(t)
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
	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", "--shared", r.dir, clone)
	shallow := filepath.Join(t.TempDir(), "shallow")
	git("clone", "-q", "--depth=1", "file://"+r.dir, shallow)
	for name, at := range map[string]string{"Bare": r.dir, "WorkTree": tree, "Shared": clone, "Shallow": shallow, "HTTP": serveHTTP(t, r, nil)} {
		t.Run(name, func(t *testing.T) {
			s := New(at, Options{})
			set, err := s.Read(t.Context())
			if err != nil || s.Commit() != last.String() {
				t.Fatalf("Read: %v, Commit() = %s", err, s.Commit())
			}
			if diff := cmp.Diff([]string{"a.yaml", "d/b.yaml"}, origins(set)); diff != "" {
				t.Errorf("files read (-want +got):\n%s", diff)
			}
			if head, err := New(at, Options{Ref: last.String()[:12]}).Head(t.Context()); err != nil || head != last.String() {
				t.Errorf("Head: %q, %v", head, err)
			}
		})
	}
}

// TestCancelHTTP cancels at every place where a server can keep one waiting.
func TestCancelHTTP(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	backend := gitBackend(t, r)
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
			soon(t, func() {
				if _, err := New(srv.URL+"/defs.git", Options{}).Read(ctx); !errors.Is(err, enough) {
					t.Errorf("Read: %v", err)
				}
			})
			soon(t, func() {
				s := New(srv.URL+"/defs.git", Options{Timeout: 50 * time.Millisecond})
				if _, err := s.Read(t.Context()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(hints(err), "allow more time") {
					t.Errorf("Read: %v", err)
				}
			})
		})
	}
}

// TestNothingOnDisk reads in all ways while the places for files are watched.
func TestNothingOnDisk(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := serveSSH(t, r)
	web := serveHTTP(t, r, nil)
	empty := t.TempDir()
	for _, name := range []string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, empty)
	}
	t.Chdir(empty)
	before := listing(t, r.dir)
	for name, s := range map[string]*Source{
		"Local": New(r.dir, Options{}),
		"HTTP":  New(web, Options{Auth: Auth{Token: source.Secret("x")}}),
		"SSH":   New(srv.url, Options{Auth: srv.auth()}),
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
		t.Errorf("the repository changed (-before +after):\n%s", diff)
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
