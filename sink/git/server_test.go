package git

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/gitserver"
)

// pushes answers what hands objects in, and what asks for it, in its own way.
func pushes(f http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if isPush(req) {
				f(w, req)
				return
			}
			next.ServeHTTP(w, req)
		})
	}
}

const secret = "s3cr3t/t+ken="

// leaks reports whether a secret shows in an error.
func leaks(err error, s *Sink) string {
	shown := fmt.Sprintf("%v %+v %#v %q %v %s", err, err, err, hint(err), errors.Join(err, err), s.Repository())
	if strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "czNjcjN0") {
		return shown
	}
	return ""
}

func TestHTTPAuth(t *testing.T) {
	r := newRepo(t)
	r.commit("master", map[string]string{"a": "a"})
	at := gitserver.Serve(t, r.dir, gitserver.Basic("git", secret))
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		at     string
		auth   Auth
		err    string
		hint   string
	}{
		"None":     {"a server that asks", at, Auth{}, "the server asks for credentials", "a token that may write to it"},
		"Token":    {"the usual user name", at, Auth{Token: secret}, "", ""},
		"File":     {"a token from a file", at, Auth{TokenFile: file}, "", ""},
		"URL":      {"in the address", strings.Replace(at, "://", "://git:s3cr3t%2Ft+ken=@", 1), Auth{}, "", ""},
		"Wrong":    {"a wrong token", at, Auth{Token: "wr0ng-" + secret}, "the server does not accept the credentials", "check that the token is whole"},
		"WrongURL": {"a wrong token in the address", strings.Replace(at, "://", "://git:wr0ng-s3cr3t@", 1), Auth{}, "does not accept the credentials", ""},
		"NoFile":   {"a file that is not there", at, Auth{TokenFile: file + "x"}, "cannot be read", "check the path"},
		"Gone":     {"a repository that is gone", strings.Replace(at, "catalog", "nope", 1), Auth{Token: secret}, "there is no such repository", "check the spelling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(tc.at, Options{Auth: tc.auth, Now: clock})
			_, err := s.Commit(t.Context(), contents("b", name))
			if (err == nil) != (tc.err == "") || err != nil && (!strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint)) {
				t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
			}
			if shown := leaks(err, s); shown != "" {
				t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
			}
			if tc.err == "" && r.files("master")["b"] != name {
				t.Errorf("%s\nit is not there", tc.reason)
			}
		})
	}
}

// TestBadDays are pushes that fail, after which all is as it was.
func TestBadDays(t *testing.T) {
	answer := func(status int) func(http.Handler) http.Handler {
		return pushes(func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body)
			http.Error(w, req.Header.Get("Authorization")+" "+secret, status)
		})
	}
	readOnly := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if strings.Contains(req.URL.RawQuery, "receive-pack") {
				http.Error(w, "read only", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, req)
		})
	}
	cases := map[string]struct {
		reason string
		guard  func(http.Handler) http.Handler
		hook   [2]string
		err    string
		hint   string
	}{
		"Forbidden": {"a token that may only read", readOnly, [2]string{}, "does not let these credentials write to it", "may write to it"},
		"Refused":   {"a push that is not allowed", answer(403), [2]string{}, "does not let these credentials write to it", "may write to it"},
		"Broken":    {"a server with troubles of its own", answer(500), [2]string{}, "the server answers 500", "try again later"},
		"Protected": {"a branch that is protected", nil, [2]string{"update", "echo 'GitLab: the branch is protected against " + secret + "' >&2; exit 1"},
			`the server refuses to move the branch "master": hook declined, and says "GitLab: the branch is protected against ********"`, "name another branch"},
		"Hook": {"a rule for all branches", nil, [2]string{"pre-receive", "echo; echo '=== no YAML on Fridays' >&2; exit 1"},
			`the server refuses to move the branch "master": pre-receive hook declined`, "ruled by a hook"},
		"Silent": {"an answer without a word", pushes(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		}), [2]string{}, "without a word", "check the address"},
		"Cut": {"a connection that ends", pushes(func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		}), [2]string{}, "ends the connection before all has come", "try again"},
		"Garbage": {"an answer that is none", pushes(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
			fmt.Fprint(w, "hello, "+secret)
		}), [2]string{}, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			old := r.commit("master", map[string]string{"a": "a"})
			if tc.hook[0] != "" {
				r.hook(tc.hook[0], tc.hook[1])
			}
			s := New(gitserver.Serve(t, r.dir, tc.guard), Options{Auth: Auth{Token: secret}})
			got, err := s.Commit(t.Context(), contents("b", "b"))
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint) {
				t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
			}
			if shown := leaks(err, s); shown != "" {
				t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
			}
			if diff := cmp.Diff(Result{}, got); diff != "" || r.head("master") != old {
				t.Errorf("%s\nthe branch is at %s, not %s; result %s", tc.reason, r.head("master"), old, diff)
			}
		})
	}
}

// TestAnswerLost is a push that was taken and whose answer did not come.
func TestAnswerLost(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	at := gitserver.Serve(t, r.dir, func(next http.Handler) http.Handler {
		return pushes(func(w http.ResponseWriter, req *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), req)
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		})(next)
	})
	got, err := New(at, Options{Now: clock}).Commit(t.Context(), contents("b", "b"))
	if err != nil || !got.Pushed || got.Commit != r.head("master").String() {
		t.Fatalf("%+v, %v", got, err)
	}
	if c := r.last("master"); c.ParentHashes[0] != old {
		t.Errorf("there is more than one commit")
	}
}

// TestMeanwhile has somebody else move the branch: before each push, and as
// often as it takes to give up.
func TestMeanwhile(t *testing.T) {
	cases := map[string]struct {
		reason string
		times  int32
		err    string
	}{
		"Once":    {"the commit is made again on top", 1, ""},
		"Twice":   {"and again", 2, ""},
		"Forever": {"for as long as there is time", 1000, "somebody else has moved the branch meanwhile, "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			there := map[string]string{"a": "a"}
			r.commit("master", there)
			var n atomic.Int32
			at := gitserver.Serve(t, r.dir, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					if strings.Contains(req.URL.RawQuery, "receive-pack") {
						if i := n.Add(1); i <= tc.times {
							there = with(there, fmt.Sprint("other", i), "x")
							r.commit("master", there)
						}
					}
					next.ServeHTTP(w, req)
				})
			})
			asked := 0
			opts := Options{Approve: func(Result) error { asked++; return nil }}
			if tc.err != "" {
				opts.Timeout = 2 * time.Second
			}
			got, err := New(at, opts).Commit(t.Context(), contents("b", "b"))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), "try again") || asked < 3 {
					t.Errorf("%s\n%v, %q, asked %d times", tc.reason, err, hint(err), asked)
				}
				return
			}
			if err != nil || !got.Pushed || asked != int(tc.times)+1 {
				t.Fatalf("%s\n%+v, %v, asked %d times", tc.reason, got, err, asked)
			}
			if diff := cmp.Diff(with(there, "b", "b"), r.files("master")); diff != "" {
				t.Errorf("%s\nfiles (-want +got):\n%s", tc.reason, diff)
			}
			r.fsck()
		})
	}
}

// TestRace has 50 write to one branch at once, between the server's list of names
// and the push. All get there, and none takes another's files away.
func TestRace(t *testing.T) {
	for _, over := range []string{"Disk", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			r := newRepo(t)
			r.commit("master", map[string]string{"a": "a"})
			at := r.dir
			if over == "HTTP" {
				at = gitserver.Serve(t, r.dir, nil)
			}
			want := map[string]string{"a": "a"}
			const all = 50
			errs := make([]error, all)
			var wg sync.WaitGroup
			for i := range all {
				name := fmt.Sprint("by", i)
				want[name] = name
				wg.Go(func() { _, errs[i] = New(at, Options{}).Commit(t.Context(), contents(name, name)) })
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, r.files("master")); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			r.fsck()
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
	for _, scheme := range []string{"http", "ssh"} {
		_, err := New(scheme+"://"+gone+"/r", Options{}).Commit(t.Context(), contents("a", "a"))
		if err == nil || !strings.Contains(err.Error(), "the server cannot be reached") || hint(err) == "" {
			t.Errorf("%s: %v, %q", scheme, err, hint(err))
		}
	}
}

// TestTimeout ends a push that nobody answers.
func TestTimeout(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	at := gitserver.Serve(t, r.dir, pushes(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		<-req.Context().Done()
	}))
	_, err := New(at, Options{Timeout: 2 * time.Second}).Commit(t.Context(), contents("b", "b"))
	if err == nil || !strings.Contains(err.Error(), "not done after 2s") || hint(err) == "" || r.head("master") != old {
		t.Errorf("%v, %q", err, hint(err))
	}
}
