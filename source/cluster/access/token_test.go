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
		// plant creates the token file and returns a function that replaces the
		// token.
		plant func(t *testing.T, at string) (replace func())
	}{
		"Rewritten": {
			reason: "A token file can be rewritten.",
			plant: func(t *testing.T, at string) func() {
				write(t, at, one)
				return func() { write(t, at, two+"\n") }
			},
		},
		"Renamed": {
			reason: "A token file can be replaced by another file.",
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
			reason: "The token of a pod is a link to a link to a folder that is replaced.",
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

// TestTokenFileRefused replaces a token without changing the file's metadata:
// the token is read again after the server refuses it.
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
		t.Fatalf("request with a replaced token: %v, %v, want 200", resp, err)
	}
	defer resp.Body.Close()
	if diff := cmp.Diff([]string{one, one, two}, srv.seen()); diff != "" {
		t.Errorf("tokens sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "hello", "hello"}, srv.bodies); diff != "" {
		t.Errorf("request bodies (-want +got):\n%s", diff)
	}

	valid = "none"
	want(t, a, http.StatusUnauthorized)
	if got := srv.seen(); len(got) != 4 {
		t.Errorf("%d requests, want 4: an unchanged token is not sent again", len(got))
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
		"Missing": {"A missing file is reported; it can be mounted later.", at("nope"), "no such file"},
		"Empty":   {"An empty file is refused.", holds(""), ": empty"},
		"Blank":   {"A blank file is refused.", holds(" \n\n"), ": empty"},
		"Lines":   {"A file with two lines is refused.", holds(marker + "-a\n" + marker + "-b\n"), "white space or non-ASCII"},
		"Words":   {"A token with a space is refused.", holds("Bearer " + marker), "white space or non-ASCII"},
		"Binary":  {"A binary file is refused.", holds("\x00\x01" + marker), "white space or non-ASCII"},
		"Large":   {"A large file is refused.", holds(strings.Repeat(marker, 1<<18)), "too large for a token"},
		"Pipe": {"A named pipe as token file does not block.", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "not a regular file"},
		"Folder": {"A folder is refused.", func(t *testing.T) string { return t.TempDir() }, "not a regular file"},
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
			checkNoSecrets(t, err)
			if got := srv.seen(); len(got) > 0 {
				t.Errorf("%s\nserver was asked without a token: %q", tc.reason, got)
			}
		})
	}
}

// TestTokenFileTogether reads a token concurrently while it is replaced.
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
					t.Errorf("server answered %d, %v", status, err)
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
		t.Errorf("partial token was sent: %q", srv.seen())
	}
}

func TestFixedToken(t *testing.T) {
	t.Parallel()
	srv := newAPI(t, only("another"))
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Token: " " + marker + "\n"})
	want(t, a, http.StatusUnauthorized)
	if diff := cmp.Diff([]string{marker}, srv.seen()); diff != "" {
		t.Errorf("tokens sent, want the fixed token once and without spaces (-want +got):\n%s", diff)
	}
	if srv.agent != "tests" {
		t.Errorf("user agent is %q, want %q", srv.agent, "tests")
	}
}

// TestElsewhere checks that a credential is not sent to another host, whatever
// the server and the caller do.
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
			t.Errorf("%s: redirect was followed: %d, %v", name, status, err)
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
		t.Errorf("tokens sent to another host (-want +got):\n%s", diff)
	}
}
