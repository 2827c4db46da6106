package scaffolder_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/test/gitserver"
)

// gitToken grants access to the repositories.
const gitToken = "t0ps3cr3t-of-git"

// folderHost is the host name under which the folder of plain is configured.
const folderHost = "folder.example.org"

// forges is a Git server with change requests, plain is one without.
var (
	forges = sync.OnceValues(func() (*stage, error) { return newStage(contract.Gitea) })
	plain  = sync.OnceValues(func() (*stage, error) { return newStage("") })
)

// stage is a server with real Git repositories and the change requests of a
// forge.
type stage struct {
	url, name string
	kind      string
	root      string

	mu sync.Mutex
	// repositories are the repositories of the server.
	repositories map[string]*repository
}

// repository is a repository of a test.
type repository struct {
	*contract.Server
	t   *testing.T
	dir string
	// guard handles a request in place of the repository if it returns true.
	guard func(w http.ResponseWriter, r *http.Request) bool
}

func newStage(kind string) (*stage, error) {
	root, err := os.MkdirTemp("", "ingestor-git-")
	if err != nil {
		return nil, err
	}
	s := &stage{kind: kind, root: root, repositories: map[string]*repository{}}
	atEnd = append(atEnd, func() error { return os.RemoveAll(root) })
	backend, err := gitserver.Backend(root, root)
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repo := s.find(r.URL.Path)
		switch {
		case repo == nil:
			http.NotFound(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			repo.ServeHTTP(w, r)
		case repo.guard != nil && repo.guard(w, r):
		case !hasToken(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "no", http.StatusUnauthorized)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	atEnd = append(atEnd, func() error { server.Close(); return nil })
	s.url, s.name = server.URL, strings.TrimPrefix(server.URL, "http://")
	return s, nil
}

// hasToken reports whether a request has the token.
func hasToken(r *http.Request) bool {
	_, password, _ := r.BasicAuth()
	return password == gitToken
}

// find returns the repository of a path, nil if there is none.
func (s *stage) find(path string) *repository {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/api/v1/repos"), "/"), "/")
	if len(parts) < 2 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repositories[parts[0]+"/"+strings.TrimSuffix(parts[1], ".git")]
}

// section returns the portal's configuration for the server.
func (s *stage) section() sections {
	at := "baseUrl"
	if s.kind == "" {
		at = "url"
	}
	return sections{"host": s.name, at: s.url, "token": gitToken}
}

// repository creates a repository with the file README.md on the branch main.
func (s *stage) repository(t *testing.T, name string) *repository {
	t.Helper()
	suffix := ".git"
	if s.kind == "" {
		suffix = ""
	}
	r := &repository{
		t: t, dir: filepath.Join(s.root, name+suffix),
		Server: &contract.Server{Kind: s.kind, URL: s.url, Repository: name, Token: gitToken, Same: map[string]bool{}},
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", "--initial-branch=main", r.dir).CombinedOutput(); err != nil {
		t.Fatalf("cannot create a repository: %v: %s", err, out)
	}
	if _, err := git.New(r.dir, git.Options{Branch: "main"}).Commit(t.Context(), map[string][]byte{"README.md": []byte("hello\n")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.remove(name)
		if err := os.RemoveAll(r.dir); err != nil {
			t.Error(err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repositories[name] = r
	return r
}

// remove removes a repository from the server.
func (s *stage) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.repositories, name)
}

// git runs git in the repository.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), "git", append([]string{"-c", "safe.directory=*", "--git-dir", r.dir}, args...)...).Output()
	if err != nil {
		r.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// changed returns the files that differ between a branch and main.
func (r *repository) changed(branch string) []string {
	return strings.Fields(r.git("diff", "--name-status", "main..."+branch))
}

// branches returns the branches except main.
func (r *repository) branches() []string {
	return strings.Fields(r.git("for-each-ref", "--format=%(refname:short)", "refs/heads/*/**"))
}

// hook installs a script that accepts or rejects each push.
func (r *repository) hook(script string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "hooks", "pre-receive"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		r.t.Fatal(err)
	}
}

// merge merges a change request.
func (r *repository) merge(e *contract.Entry) {
	r.t.Helper()
	r.git("update-ref", "refs/heads/main", e.Source)
	e.Closed = true
}
