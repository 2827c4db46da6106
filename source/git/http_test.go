package git

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/test/gitserver"
)

// recorder records the requests for objects.
type recorder struct {
	mu    sync.Mutex
	asked []string
}

func (r *recorder) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		r.mu.Lock()
		r.asked = append(r.asked, req.Method+" "+string(body))
		r.mu.Unlock()
		next.ServeHTTP(w, req)
	})
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.asked = nil }()
	return r.asked
}

func withUser(at, userinfo string) string { return strings.Replace(at, "://", "://"+userinfo+"@", 1) }

func TestHTTPAuth(t *testing.T) {
	const token = "s3cr3t/t+ken="
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	at := gitserver.Serve(t, r.dir, gitserver.Basic("git", token))
	other := gitserver.Serve(t, r.dir, gitserver.Basic("bot", token))
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		at     string
		auth   Auth
		err    string
		hint   string
	}{
		"None":      {"A server that requires credentials is reported.", at, Auth{}, "server requires credentials", "set a token"},
		"Token":     {"A token has a default user name.", at, Auth{Token: token}, "", ""},
		"File":      {"A token file can end in a newline.", at, Auth{TokenFile: file}, "", ""},
		"Username":  {"The user name can be set.", other, Auth{Username: "bot", Token: token}, "", ""},
		"URL":       {"User name and token can be in the URL.", withUser(other, "bot:s3cr3t%2Ft+ken="), Auth{}, "", ""},
		"URLUser":   {"The user name can be in the URL, and the token separate.", withUser(other, "bot"), Auth{Token: token}, "", ""},
		"Before":    {"Separate credentials override those of the URL.", withUser(other, "me:other"), Auth{Username: "bot", Token: token}, "", ""},
		"Wrong":     {"A wrong token is reported.", at, Auth{Token: "wr0ng-" + token}, "server rejected the credentials", "check that the token is complete"},
		"WrongURL":  {"A wrong token in the URL is reported and not shown.", withUser(at, "me:wr0ng-s3cr3t"), Auth{}, "rejected the credentials", "check that the token"},
		"LoneURL":   {"A wrong token without a user name in the URL is not shown.", withUser(at, "wr0ng-s3cr3t"), Auth{}, "rejected the credentials", "check that the token"},
		"NoFile":    {"A missing token file is reported.", at, Auth{TokenFile: file + "x"}, "cannot read token file", "check the path"},
		"EmptyFile": {"An empty token file is reported.", at, Auth{TokenFile: empty}, "is empty", "write the token to the file"},
		"NotFound":  {"A missing repository is reported.", strings.Replace(at, "defs.git", "nope.git", 1), Auth{Token: token}, "repository not found", "check the spelling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(tc.at, Options{Auth: tc.auth})
			_, err := s.Read(t.Context())
			_, headErr := s.Head(t.Context())
			for _, err := range []error{err, headErr} {
				if tc.err == "" && err != nil {
					t.Errorf("%s\n%v", tc.reason, err)
				}
				if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hints(err), tc.hint)) {
					t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hints(err), tc.err, tc.hint)
				}
				shown := fmt.Sprintf("%v %+v %#v %q %v %s", err, err, err, hints(err), errors.Join(err, err), s.Repository())
				if strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "czNjcjN0") {
					t.Errorf("%s\nsecret is in the error: %s", tc.reason, shown)
				}
			}
		})
	}
	t.Run("Changed", func(t *testing.T) {
		s := New(at, Options{Auth: Auth{TokenFile: file}})
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(t.Context()); err == nil {
			t.Error("old token was accepted")
		}
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(t.Context()); err != nil {
			t.Errorf("read after the token file was changed: %v", err)
		}
	})
}

// TestHTTPErrors checks servers that fail or are not Git servers.
func TestHTTPErrors(t *testing.T) {
	const token = "s3cr3t-token"
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(body, "{auth}", req.Header.Get("Authorization")))
		}
	}
	const refsType = "application/x-git-upload-pack-advertisement"
	pkt := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
	prefix := pkt("# service=git-upload-pack\n") + "0000"
	list := prefix + pkt(strings.Repeat("1", 40)+" HEAD\x00side-band-64k shallow symref=HEAD:refs/heads/main\n") +
		pkt(strings.Repeat("1", 40)+" refs/heads/main\n") + "0000"
	then := func(second http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet {
				answer(200, refsType, list)(w, req)
				return
			}
			second(w, req)
		}
	}
	cases := map[string]struct {
		reason string
		h      http.HandlerFunc
		err    string
		hint   string
	}{
		"Forbidden": {"A missing permission is reported.", answer(403, "text/plain", "no, {auth}"), "permission denied for these credentials", "that may read it"},
		"Broken":    {"A server error is reported.", answer(500, "text/plain", "{auth}"), "server responded with 500 Internal Server Error", ""},
		"Page":      {"An HTML page is reported.", answer(200, "text/html", "<html>Sign in, {auth}</html>"), "server did not respond with a repository", "check that the address"},
		"Garbage":   {"A response with invalid content is reported.", answer(200, refsType, prefix+"0009hello"), "does not support the Git protocol", "check that the address"},
		"NoLength":  {"A response without packet lines is reported.", answer(200, refsType, "what is this?"), "does not support the Git protocol", "check that the address"},
		"Silence":   {"An empty response is reported.", answer(200, refsType, ""), "closed the connection without a response", "check the address"},
		"ERR":       {"An error of the Git protocol is reported.", answer(200, refsType, prefix+pkt("ERR access denied to s3cr3t-token\x1b[31m\nand more")), `server responded with "access denied to ********[31m"`, "check the address"},
		"Empty":     {"A repository without commits is reported.", answer(200, refsType, prefix+"0000"), "repository has no commits yet", "push a commit first"},
		"EmptyNew":  {"A repository without commits is reported in the format of newer servers.", answer(200, refsType, prefix+pkt(strings.Repeat("0", 40)+" capabilities^{}\x00shallow\n")+"0000"), "repository has no commits yet", ""},
		"Cut":       {"A response that is cut off is reported.", then(answer(200, "application/x-git-upload-pack-result", pkt("shallow "+strings.Repeat("1", 40))+"0000"+pkt("NAK\n")+pkt("\x01PACK\x00\x00\x00\x02\x00\x00\x00\x01"))), "closed the connection early", "try again"},
		"Nothing":   {"A missing response is reported.", then(answer(200, "application/x-git-upload-pack-result", "")), "closed the connection early", "try again"},
		"Refused":   {"An error in the sideband is reported.", then(answer(200, "application/x-git-upload-pack-result", pkt("shallow "+strings.Repeat("1", 40))+"0000"+pkt("NAK\n")+pkt("\x03too busy for s3cr3t-token\n"))), `did not send the commit: unexpected error: too busy for ********`, ""},
		"NotOurs":   {"An error in place of the pack is reported.", then(answer(200, "application/x-git-upload-pack-result", pkt("ERR upload-pack: not our ref"))), "upload-pack: not our ref", ""},
		"NotPack":   {"An invalid pack is reported.", then(answer(200, "application/x-git-upload-pack-result", pkt("shallow "+strings.Repeat("1", 40))+"0000"+pkt("NAK\n")+pkt("\x01hello, hello, hello")+"0000")), "malformed pack file signature", "try again"},
		"Endless": {"An endless list of refs is refused.", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", refsType)
			fmt.Fprint(w, list[:len(list)-4])
			line := pkt(strings.Repeat("1", 40) + " refs/heads/" + strings.Repeat("x", 60_000) + "\n")
			for {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		}, "or sent too much data", "try again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(tc.h)
			defer srv.Close()
			s := New(srv.URL+"/r", Options{Auth: Auth{Token: token}})
			set, err := s.Read(t.Context())
			if set == nil || err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hints(err), tc.hint) {
				t.Errorf("%s\nRead: %v, %q\nwant: %q, %q", tc.reason, err, hints(err), tc.err, tc.hint)
			}
			if shown := fmt.Sprintf("%v %+v %#v %s", err, err, err, hints(err)); strings.Contains(shown, token) || strings.Contains(shown, "Basic ") {
				t.Errorf("%s\nsecret is in the error: %s", tc.reason, shown)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ reason, at, err, hint string }{
		"Refused":    {"An HTTP port without a listener is reported.", "http://" + gone + "/r", "cannot reach the server: connect: connection refused", "check the address"},
		"RefusedSSH": {"An SSH port without a listener is reported.", "ssh://git@" + gone + "/r", "cannot reach the server: connect: connection refused", "check the address"},
		"Unknown":    {"An unknown host is reported.", "https://git.invalid/r", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.at, Options{}).Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hints(err), tc.hint) {
				t.Errorf("%s\nRead: %v, %q", tc.reason, err, hints(err))
			}
		})
	}
	p := remote.Explain(fmt.Errorf("dial: %w", &net.DNSError{Name: "git.invalid", IsNotFound: true}))
	if p.Err.Error() != `host "git.invalid" not found` || p.Hint == "" {
		t.Errorf("explain: %v, %q", p.Err, p.Hint)
	}
}

func TestTLS(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	srv := httptest.NewUnstartedServer(gitserver.Handler(t, filepath.Dir(r.dir)))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		auth   Auth
		err    string
	}{
		"Unknown": {"A certificate of an unknown authority is refused.", Auth{}, "server certificate is not trusted"},
		"Data":    {"An authority can be given as data.", Auth{CAData: ca}, ""},
		"File":    {"An authority can be given as a file.", Auth{CAFile: file}, ""},
		"Any":     {"Verification can be disabled.", Auth{SkipTLSVerify: true}, ""},
		"NotPEM":  {"An invalid authority is reported.", Auth{CAData: []byte("x")}, "certificate authority is not in PEM format"},
		"NoFile":  {"A missing authority file is reported.", Auth{CAFile: file + "x"}, "cannot read certificate file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(srv.URL+"/defs.git", Options{Auth: tc.auth}).Read(t.Context())
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nRead: %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

// TestRedirect checks that a redirect is followed, and that credentials are
// sent only to the same server.
func TestRedirect(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	var mu sync.Mutex
	var seen []string
	note := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			mu.Lock()
			seen = append(seen, req.Method+" "+req.URL.Path+" "+req.Header.Get("Authorization"))
			mu.Unlock()
			next.ServeHTTP(w, req)
		})
	}
	take := func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { seen = nil }()
		return seen
	}
	there := gitserver.Serve(t, r.dir, note)
	const user = "Basic Z2l0OnMzY3IzdA=="
	t.Run("Elsewhere", func(t *testing.T) {
		old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, strings.Replace(there, "127.0.0.1", "localhost", 1)+"/info/refs?"+req.URL.RawQuery, http.StatusMovedPermanently)
		}))
		defer old.Close()
		set, err := New(old.URL+"/old", Options{Auth: Auth{Token: "s3cr3t"}}).Read(t.Context())
		if err != nil || len(set.Definitions) != 1 {
			t.Fatalf("Read: %v", err)
		}
		if diff := cmp.Diff([]string{"GET /defs.git/info/refs ", "POST /defs.git/git-upload-pack "}, take()); diff != "" {
			t.Errorf("requests to the other server (-want +got):\n%s", diff)
		}
		if at := set.Definitions[0].Origin.Location; !strings.HasPrefix(at, "url:"+old.URL+"/old/blob/") {
			t.Errorf("location is %q, want the configured URL", at)
		}
	})
	t.Run("Here", func(t *testing.T) {
		here := gitserver.Serve(t, r.dir, func(next http.Handler) http.Handler {
			return note(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if rest, ok := strings.CutPrefix(req.URL.Path, "/old"); ok {
					http.Redirect(w, req, "/defs.git"+rest+"?"+req.URL.RawQuery, http.StatusFound)
					return
				}
				next.ServeHTTP(w, req)
			}))
		})
		at := strings.Replace(here, "/defs.git", "/old", 1)
		if _, err := New(at, Options{Auth: Auth{Token: "s3cr3t"}}).Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{"GET /old/info/refs " + user, "GET /defs.git/info/refs " + user, "POST /defs.git/git-upload-pack " + user}
		if diff := cmp.Diff(want, take()); diff != "" {
			t.Errorf("requests to the server (-want +got):\n%s", diff)
		}
	})
	t.Run("Login", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path != "/login" {
				http.Redirect(w, req, "/login", http.StatusFound)
			}
		}))
		defer srv.Close()
		_, err := New(srv.URL+"/r", Options{}).Read(t.Context())
		if err == nil || !strings.Contains(err.Error(), "did not respond with a repository") || !strings.Contains(hints(err), "credentials") {
			t.Errorf("Read: %v, %q", err, hints(err))
		}
	})
	t.Run("Endless", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, req.URL.Path, http.StatusFound)
		}))
		defer srv.Close()
		if _, err := New(srv.URL+"/r", Options{}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "too many redirects") {
			t.Errorf("Read: %v", err)
		}
	})
	t.Run("Downgrade", func(t *testing.T) {
		srv := httptest.NewTLSServer(http.RedirectHandler(there+"/info/refs", http.StatusFound))
		defer srv.Close()
		if _, err := New(srv.URL+"/r", Options{Auth: Auth{SkipTLSVerify: true}}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), `from "https" to "http"`) {
			t.Errorf("Read: %v", err)
		}
	})
}
