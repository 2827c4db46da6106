// Package forge runs a Git server with an API for change requests, for tests.
package forge

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/test/gitserver"
)

// Start serves the repository acme/live with a README on the branch main, and an API for
// change requests, until the test ends. Both need the token. It returns the API and the host.
func Start(tb testing.TB, token string) (requests *contract.Server, host string) {
	tb.Helper()
	gitserver.Need(tb)
	root := tb.TempDir()
	dir := filepath.Join(root, "acme", "live.git")
	if out, err := exec.CommandContext(tb.Context(), "git", "init", "--quiet", "--bare", "--initial-branch=main", dir).CombinedOutput(); err != nil {
		tb.Fatalf("cannot create a repository: %v: %s", err, out)
	}
	if _, err := git.New(dir, git.Options{Branch: "main"}).Commit(tb.Context(), map[string][]byte{"README.md": []byte("hello\n")}); err != nil {
		tb.Fatal(err)
	}
	requests = &contract.Server{Kind: contract.Gitea, Repository: "acme/live", Token: token, Same: map[string]bool{}}
	repository := gitserver.Basic("", token)(gitserver.Handler(tb, root))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			requests.ServeHTTP(w, r)
			return
		}
		repository.ServeHTTP(w, r)
	}))
	tb.Cleanup(s.Close)
	requests.URL = s.URL
	return requests, strings.TrimPrefix(s.URL, "http://")
}
