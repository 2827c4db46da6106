package access

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

func TestTokenFileReplaced(t *testing.T) {
	t.Parallel()
	const one, two = "one-" + marker, "two-longer-" + marker
	cases := map[string]struct {
		reason string
		// plant makes the token's file and returns what replaces the token.
		plant func(t *testing.T, at string) (replace func())
	}{
		"Rewritten": {
			reason: "a file may be written anew",
			plant: func(t *testing.T, at string) func() {
				write(t, at, one)
				return func() { write(t, at, two+"\n") }
			},
		},
		"Renamed": {
			reason: "another file may take its place",
			plant: func(t *testing.T, at string) func() {
				write(t, at, one+"\n")
				return func() {
					if err := os.Rename(write(t, at+".new", two), at); err != nil {
						t.Fatal(err)
					}
				}
			},
		},
		"Link": {
			reason: "a pod's token is a link to a link to a folder, and the folder is another one",
			plant: func(t *testing.T, at string) func() {
				dir := filepath.Dir(at)
				turn := func(to, token string) {
					if err := errors.Join(os.Mkdir(filepath.Join(dir, to), 0o700), os.Symlink(to, filepath.Join(dir, "..next"))); err != nil {
						t.Fatal(err)
					}
					write(t, filepath.Join(dir, to, "token"), token)
					if err := os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")); err != nil {
						t.Fatal(err)
					}
				}
				turn("..first", one)
				if err := os.Symlink(filepath.Join("..data", "token"), at); err != nil {
					t.Fatal(err)
				}
				return func() { turn("..second", two) }
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := filepath.Join(t.TempDir(), "token")
			replace := tc.plant(t, at)
			srv := newAPI(t, nil)
			a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, TokenFile: at})
			want(t, a, http.StatusOK)
			replace()
			want(t, a, http.StatusOK)
			if diff := cmp.Diff([]string{one, two}, srv.seen()); diff != "" {
				t.Errorf("%s\ntokens sent (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTokenFileRefused replaces a token so that the file looks the same: only
// the server notices.
func TestTokenFileRefused(t *testing.T) {
	t.Parallel()
	const one, two = "one-" + marker, "two-" + marker
	at := write(t, "token", one)
	info, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	valid := one
	srv := newAPI(t, func(token string) bool { return token == valid })
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, TokenFile: at})
	want(t, a, http.StatusOK)

	write(t, at, two)
	if err := os.Chtimes(at, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	valid = two
	resp, err := a.Client.Post(a.URL, "application/json", strings.NewReader("hello"))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("a token that was replaced: %v, %v, want 200", resp, err)
	}
	defer resp.Body.Close()
	if diff := cmp.Diff([]string{one, one, two}, srv.seen()); diff != "" {
		t.Errorf("tokens sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "hello", "hello"}, srv.bodies); diff != "" {
		t.Errorf("a request is repeated with its body (-want +got):\n%s", diff)
	}

	valid = "none"
	want(t, a, http.StatusUnauthorized)
	if got := srv.seen(); len(got) != 4 {
		t.Errorf("a token that is the only one is sent again: %d requests, want 4", len(got))
	}
}

func TestTokenFileBad(t *testing.T) {
	t.Parallel()
	at := func(name string) func(t *testing.T) string {
		return func(t *testing.T) string { return filepath.Join(t.TempDir(), name) }
	}
	holds := func(text string) func(t *testing.T) string {
		return func(t *testing.T) string { return write(t, "token", text) }
	}
	cases := map[string]struct {
		reason string
		file   func(t *testing.T) string
		want   string
	}{
		"Missing": {"the file may be mounted later", at("nope"), "no such file"},
		"Empty":   {"nothing is no token", holds(""), "it is empty"},
		"Blank":   {"space is nothing", holds(" \n\n"), "it is empty"},
		"Lines":   {"two lines are two tokens", holds(marker + "-a\n" + marker + "-b\n"), "more than one token"},
		"Words":   {"a token has no space in it", holds("Bearer " + marker), "more than one token"},
		"Binary":  {"a token is text", holds("\x00\x01" + marker), "more than one token"},
		"Large":   {"a token is small", holds(strings.Repeat(marker, 1<<18)), "larger than a token can be"},
		"Pipe": {"nobody waits for a pipe", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "it is not a file"},
		"Folder": {"a folder is no file", func(t *testing.T) string { return t.TempDir() }, "it is not a file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newAPI(t, nil)
			file := tc.file(t)
			a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, TokenFile: file})
			_, err := get(t.Context(), a, "/")
			if e, ok := errors.AsType[*CredentialError](err); !ok || e.Temporary() || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), file) {
				t.Fatalf("%s\ngot %v (%v), want a CredentialError that names %s and says %q", tc.reason, err, e, file, tc.want)
			}
			keeps(t, err)
			if got := srv.seen(); len(got) > 0 {
				t.Errorf("%s\nthe server is asked without a token: %q", tc.reason, got)
			}
		})
	}
}

// TestTokenFileTogether reads a token many times at once while it is replaced.
func TestTokenFileTogether(t *testing.T) {
	t.Parallel()
	at := write(t, "token", "0-"+marker)
	srv := newAPI(t, nil)
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, TokenFile: at})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if status, err := get(t.Context(), a, "/"); err != nil || status != http.StatusOK {
					t.Errorf("the server answers %d, %v", status, err)
				}
			}
		})
	}
	for i := range 20 {
		next := write(t, at+".new", strings.Repeat("x", i)+marker)
		if err := os.Rename(next, at); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if slices.ContainsFunc(srv.seen(), func(s string) bool { return !strings.HasSuffix(s, marker) }) {
		t.Errorf("half a token was sent: %q", srv.seen())
	}
}

func TestFixedToken(t *testing.T) {
	t.Parallel()
	srv := newAPI(t, only("another"))
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Token: " " + marker + "\n"})
	want(t, a, http.StatusUnauthorized)
	if diff := cmp.Diff([]string{marker}, srv.seen()); diff != "" {
		t.Errorf("a token that cannot change is sent once, without space around it (-want +got):\n%s", diff)
	}
	if srv.agent != "tests" {
		t.Errorf("the server is told the name %q, want %q", srv.agent, "tests")
	}
}

// TestElsewhere sees that a credential goes to no other address, whatever the
// server and the caller do.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	other := newAPI(t, nil)
	there := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/"+r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(there.Close)
	kubeconfig := kubeconfigOf(t, there.URL, "insecure-skip-tls-verify: true", "token: "+marker)
	for name, c := range map[string]source.Cluster{
		"Fixed":      {URL: there.URL, SkipTLSVerify: true, Token: marker},
		"File":       {URL: there.URL, SkipTLSVerify: true, TokenFile: write(t, "token", marker)},
		"Kubeconfig": {Kubeconfig: kubeconfig},
	} {
		a := open(t, c)
		if status, err := get(t.Context(), a, "/"); err != nil || status != http.StatusTemporaryRedirect {
			t.Errorf("%s: a redirect is followed: %d, %v", name, status, err)
		}
		if c.Kubeconfig != "" {
			continue
		}
		resp, err := a.Client.Get(other.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if diff := cmp.Diff([]string{"", ""}, other.seen()); diff != "" {
		t.Errorf("tokens sent elsewhere (-want +got):\n%s", diff)
	}
}
