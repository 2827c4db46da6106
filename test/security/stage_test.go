package security_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/test/gitserver"
)

// gitToken gives the portal access to the Git server; privateText is in a
// repository that needs it.
const (
	gitToken    = "t0ps3cr3t-of-git-and-the-portal"
	privateText = "the-plan-of-the-board"
)

// stage is a Git server whose repositories need a token.
type stage struct {
	root, url, name string
}

// newStage serves the repositories acme/named, acme/granted, acme/private and
// acme/fenced.
func newStage() (*stage, error) {
	root, err := os.MkdirTemp("", "ingestor-security-git-")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(root) })
	backend, err := gitserver.Backend(root, root)
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(gitserver.Basic("", gitToken)(backend))
	atEnd = append(atEnd, func() error { server.Close(); return nil })
	s := &stage{root: root, url: server.URL, name: strings.TrimPrefix(server.URL, "http://")}
	for _, name := range []string{"acme/named", "acme/granted", "acme/private", "acme/fenced"} {
		dir := filepath.Join(root, name)
		if err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", dir).Run(); err != nil {
			return nil, err
		}
		if _, err := git.New(dir, git.Options{Branch: "main"}).Commit(context.Background(), map[string][]byte{"plan.txt": []byte(privateText)}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// git runs git in a repository.
func (s *stage) git(t *testing.T, repository string, args ...string) string {
	t.Helper()
	dir := filepath.Join(s.root, repository)
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-c", "safe.directory=*", "--git-dir", dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// refs returns the branches of a repository with their commits.
func (s *stage) refs(t *testing.T, repository string) string {
	t.Helper()
	return s.git(t, repository, "for-each-ref")
}

// pages is a web server with contents of users.
type pages struct {
	host string
	mu   sync.Mutex
	all  map[string]string
}

func newPages() *pages {
	p := &pages{all: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		text, ok := p.all[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	atEnd = append(atEnd, func() error { server.Close(); return nil })
	p.host = strings.TrimPrefix(server.URL, "http://")
	return p
}

// put serves a text and returns its URL.
func (p *pages) put(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := "/" + unique("page") + ".yaml"
	p.all[path] = text
	return "http://" + p.host + path
}
