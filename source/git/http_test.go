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

// recorder keeps the requests for objects.
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
		"None":      {"a server that asks", at, Auth{}, "the server asks for credentials", "give a token"},
		"Token":     {"the usual user name", at, Auth{Token: token}, "", ""},
		"File":      {"a token from a file, without the end of the line", at, Auth{TokenFile: file}, "", ""},
		"Username":  {"another user name", other, Auth{Username: "bot", Token: token}, "", ""},
		"URL":       {"both in the address", withUser(other, "bot:s3cr3t%2Ft+ken="), Auth{}, "", ""},
		"URLUser":   {"the user in the address, the token apart", withUser(other, "bot"), Auth{Token: token}, "", ""},
		"Before":    {"what is given apart goes before the address", withUser(other, "me:other"), Auth{Username: "bot", Token: token}, "", ""},
		"Wrong":     {"a wrong token", at, Auth{Token: "wr0ng-" + token}, "the server does not accept the credentials", "check that the token is whole"},
		"WrongURL":  {"a wrong token in the address", withUser(at, "me:wr0ng-s3cr3t"), Auth{}, "does not accept the credentials", "check that the token"},
		"LoneURL":   {"a token alone in the address", withUser(at, "wr0ng-s3cr3t"), Auth{}, "does not accept the credentials", "check that the token"},
		"NoFile":    {"a file that is not there", at, Auth{TokenFile: file + "x"}, "cannot be read: no such file", "check the path"},
		"EmptyFile": {"a file with nothing in it", at, Auth{TokenFile: empty}, "is empty", "put a token into it"},
		"NotFound":  {"a slip in the path", strings.Replace(at, "defs.git", "nope.git", 1), Auth{Token: token}, "there is no such repository", "check the spelling"},
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
					t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
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
			t.Error("an old token is accepted")
		}
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(t.Context()); err != nil {
			t.Errorf("the file is read again: %v", err)
		}
	})
}

// TestHTTPErrors talks to servers that are not what was hoped for.
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
		"Forbidden": {"a token without the right", answer(403, "text/plain", "no, {auth}"), "does not let these credentials read it", "that may read it"},
		"Broken":    {"a server with troubles of its own", answer(500, "text/plain", "{auth}"), "the server answers 500 Internal Server Error", ""},
		"Page":      {"a page for people", answer(200, "text/html", "<html>Sign in, {auth}</html>"), "something that is not a repository", "check that the address"},
		"Garbage":   {"the right type and the wrong words", answer(200, refsType, prefix+"0009hello"), "does not speak as Git does", "check that the address"},
		"NoLength":  {"not even lines", answer(200, refsType, "what is this?"), "does not speak as Git does", "check that the address"},
		"Silence":   {"an answer without a word", answer(200, refsType, ""), "without a word", "check the address"},
		"ERR":       {"an error as Git writes it", answer(200, refsType, prefix+pkt("ERR access denied to s3cr3t-token\x1b[31m\nand more")), `the server says "access denied to ********[31m"`, "check the address"},
		"Empty":     {"a repository without commits", answer(200, refsType, prefix+"0000"), "it has no commits yet", "commit something first"},
		"EmptyNew":  {"the same in the way of newer servers", answer(200, refsType, prefix+pkt(strings.Repeat("0", 40)+" capabilities^{}\x00shallow\n")+"0000"), "it has no commits yet", ""},
		"Cut":       {"an answer that ends too soon", then(answer(200, "application/x-git-upload-pack-result", pkt("shallow "+strings.Repeat("1", 40))+"0000"+pkt("NAK\n")+pkt("\x01PACK\x00\x00\x00\x02\x00\x00\x00\x01"))), "ends the connection before all has come", "try again"},
		"Nothing":   {"no answer at all", then(answer(200, "application/x-git-upload-pack-result", "")), "before all has come", "try again"},
		"Refused":   {"a refusal beside the pack", then(answer(200, "application/x-git-upload-pack-result", pkt("shallow "+strings.Repeat("1", 40))+"0000"+pkt("NAK\n")+pkt("\x03too busy for s3cr3t-token\n"))), `does not send the commit: unexpected error: too busy for ********`, ""},
		"NotOurs":   {"a refusal instead of it", then(answer(200, "application/x-git-upload-pack-result", pkt("ERR upload-pack: not our ref"))), "upload-pack: not our ref", ""},
		"NotPack":   {"a pack that is none", then(answer(200, "application/x-git-upload-pack-result", pkt("shallow "+strings.Repeat("1", 40))+"0000"+pkt("NAK\n")+pkt("\x01hello, hello, hello")+"0000")), "malformed pack file signature", "try again"},
		"Endless": {"a list without end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", refsType)
			fmt.Fprint(w, list[:len(list)-4])
			line := pkt(strings.Repeat("1", 40) + " refs/heads/" + strings.Repeat("x", 60_000) + "\n")
			for {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		}, "or sends too much", "try again"},
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
				t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
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
		"Refused":    {"nobody listens", "http://" + gone + "/r", "the server cannot be reached: connect: connection refused", "check the address"},
		"RefusedSSH": {"nobody listens there either", "ssh://git@" + gone + "/r", "the server cannot be reached: connect: connection refused", "check the address"},
		"Unknown":    {"names that are reserved for not being there", "https://git.invalid/r", "", ""},
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
	if p.Err.Error() != `there is no host "git.invalid"` || p.Hint == "" {
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
		"Unknown": {"an authority nobody knows", Auth{}, "the certificate of the server is not trusted"},
		"Data":    {"the authority is given", Auth{CAData: ca}, ""},
		"File":    {"the authority is in a file", Auth{CAFile: file}, ""},
		"Any":     {"any will do", Auth{SkipTLSVerify: true}, ""},
		"NotPEM":  {"what is no certificate", Auth{CAData: []byte("x")}, "the authority is not a certificate in PEM"},
		"NoFile":  {"a file that is not there", Auth{CAFile: file + "x"}, "cannot be read"},
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

// TestRedirect follows a server to where the repository moved, and takes the
// credentials along only to the same server.
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
			t.Errorf("what the other server sees (-want +got):\n%s", diff)
		}
		if at := set.Definitions[0].Origin.Location; !strings.HasPrefix(at, "url:"+old.URL+"/old/blob/") {
			t.Errorf("the location is the one that was given, not %q", at)
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
			t.Errorf("what the server sees (-want +got):\n%s", diff)
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
		if err == nil || !strings.Contains(err.Error(), "not a repository") || !strings.Contains(hints(err), "credentials") {
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
