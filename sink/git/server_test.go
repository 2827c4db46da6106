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

// pushes answers pushes and their ref advertisement with a custom handler.
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

// leaks reports whether a secret is in an error.
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
		"None":     {"A server that requires credentials is reported.", at, Auth{}, "server requires credentials", "a token that may write to it"},
		"Token":    {"A token has a default user name.", at, Auth{Token: secret}, "", ""},
		"File":     {"A token can be in a file.", at, Auth{TokenFile: file}, "", ""},
		"URL":      {"A token can be in the URL.", strings.Replace(at, "://", "://git:s3cr3t%2Ft+ken=@", 1), Auth{}, "", ""},
		"Wrong":    {"A wrong token is reported.", at, Auth{Token: "wr0ng-" + secret}, "server rejected the credentials", "check that the token is complete"},
		"WrongURL": {"A wrong token in the URL is reported and not shown.", strings.Replace(at, "://", "://git:wr0ng-s3cr3t@", 1), Auth{}, "rejected the credentials", ""},
		"NoFile":   {"A missing token file is reported.", at, Auth{TokenFile: file + "x"}, "cannot read token file", "check the path"},
		"Gone":     {"A missing repository is reported.", strings.Replace(at, "catalog", "nope", 1), Auth{Token: secret}, "repository not found", "check the spelling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(tc.at, Options{Auth: tc.auth, Now: clock})
			_, err := s.Commit(t.Context(), contents("b", name))
			if (err == nil) != (tc.err == "") || err != nil && (!strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint)) {
				t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
			}
			if shown := leaks(err, s); shown != "" {
				t.Errorf("%s\nsecret is in the error: %s", tc.reason, shown)
			}
			if tc.err == "" && r.files("master")["b"] != name {
				t.Errorf("%s\nfile was not pushed", tc.reason)
			}
		})
	}
}

// TestBadDays checks pushes that fail and change nothing.
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
		"Forbidden": {"A token without write permission is reported.", readOnly, [2]string{}, "permission denied for these credentials", "may write to it"},
		"Refused":   {"A refused push is reported.", answer(403), [2]string{}, "permission denied for these credentials", "may write to it"},
		"Broken":    {"A server error is reported.", answer(500), [2]string{}, "server responded with 500", "try again later"},
		"Protected": {"A protected branch is reported.", nil, [2]string{"update", "echo 'GitLab: the branch is protected against " + secret + "' >&2; exit 1"},
			`server refused to update branch "master": hook declined: "GitLab: the branch is protected against ********"`, "push to another branch"},
		"Hook": {"A pre-receive hook that declines is reported.", nil, [2]string{"pre-receive", "echo; echo '=== no YAML on Fridays' >&2; exit 1"},
			`server refused to update branch "master": pre-receive hook declined`, "restricted by a hook"},
		"Silent": {"An empty response is reported.", pushes(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		}), [2]string{}, "closed the connection without a response", "check the address"},
		"Cut": {"A connection that is closed early is reported.", pushes(func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		}), [2]string{}, "closed the connection early", "try again"},
		"Garbage": {"An invalid response is reported.", pushes(func(w http.ResponseWriter, _ *http.Request) {
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
				t.Errorf("%s\nsecret is in the error: %s", tc.reason, shown)
			}
			if diff := cmp.Diff(Result{}, got); diff != "" || r.head("master") != old {
				t.Errorf("%s\nbranch is at %s, want %s; result %s", tc.reason, r.head("master"), old, diff)
			}
		})
	}
}

// TestAnswerLost checks a push that was accepted, but whose response was lost.
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
		t.Errorf("branch has more than one commit")
	}
}

// TestMeanwhile checks pushes to a branch that another client moves: once
// before a push, and until the retries are exhausted.
func TestMeanwhile(t *testing.T) {
	cases := map[string]struct {
		reason string
		times  int32
		err    string
	}{
		"Once":    {"The commit is made again on top of the other.", 1, ""},
		"Twice":   {"The commit is made a second time.", 2, ""},
		"Forever": {"The retries end at the time limit.", 1000, "branch was updated concurrently ("},
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

// TestRace runs 50 concurrent pushes to one branch, between the ref
// advertisement and the push. All succeed, and no files are lost.
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
		if err == nil || !strings.Contains(err.Error(), "cannot reach the server") || hint(err) == "" {
			t.Errorf("%s: %v, %q", scheme, err, hint(err))
		}
	}
}

// TestTimeout checks that a push to a server that does not respond times out.
func TestTimeout(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	at := gitserver.Serve(t, r.dir, pushes(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		<-req.Context().Done()
	}))
	_, err := New(at, Options{Timeout: 2 * time.Second}).Commit(t.Context(), contents("b", "b"))
	if err == nil || !strings.Contains(err.Error(), "timeout of 2s exceeded") || hint(err) == "" || r.head("master") != old {
		t.Errorf("%v, %q", err, hint(err))
	}
}
