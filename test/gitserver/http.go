// Package gitserver starts real Git servers for tests, over HTTP and over SSH,
// that run the local git.
package gitserver

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// discard is a logger without output.
var discard = log.New(io.Discard, "", 0)

// ErrNone is returned if git is not installed.
var ErrNone = errors.New("git is not installed")

// Need skips a test if git is not installed.
func Need(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip(ErrNone)
	}
}

// Backend serves the repositories below a folder over HTTP with Git's own
// backend, for reading and pushing. Home is a folder without Git configuration.
func Backend(root, home string) (http.Handler, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, ErrNone
	}
	programs, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find the programs of git: %w", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + home,
			"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
			"GIT_CONFIG_KEY_1=http.receivepack", "GIT_CONFIG_VALUE_1=true",
			"GIT_CONFIG_KEY_2=receive.fsckObjects", "GIT_CONFIG_VALUE_2=true",
		},
		Stderr: io.Discard, Logger: discard,
	}, nil
}

// Handler returns a Backend for a test, which is skipped without git.
func Handler(tb testing.TB, root string) http.Handler {
	tb.Helper()
	h, err := Backend(root, tb.TempDir())
	if errors.Is(err, ErrNone) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// Guard wraps a server.
type Guard = func(next http.Handler) http.Handler

// Serve serves a repository over HTTP behind a guard, if there is one, and
// returns its URL.
func Serve(tb testing.TB, dir string, guard Guard) string {
	tb.Helper()
	h := Handler(tb, filepath.Dir(dir))
	if guard != nil {
		h = guard(h)
	}
	srv := httptest.NewServer(h)
	tb.Cleanup(srv.Close)
	return srv.URL + "/" + filepath.Base(dir)
}

// Basic requires a user and a password. An empty user allows any user.
func Basic(user, password string) Guard {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			u, p, ok := req.BasicAuth()
			if !ok || user != "" && u != user || p != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
				// The error repeats the credentials, as careless servers do.
				http.Error(w, fmt.Sprintf("not with %s, %s, %s", u, p, req.Header.Get("Authorization")), http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, req)
		})
	}
}
