package forge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/internal/secret"
)

// TestRetries checks how often a call is attempted, and how long the client waits
// between two attempts.
func TestRetries(t *testing.T) {
	final := &problem{why: ErrForbidden}
	down := &problem{why: ErrUnavailable, again: true}
	busy := &problem{why: ErrUnavailable, again: true, after: 10 * time.Second}
	soon := &problem{why: ErrUnavailable, again: true, after: time.Millisecond}
	type result struct {
		Calls int
		Took  time.Duration
		Err   error
	}
	cases := map[string]struct {
		reason string
		// fails are the errors of the first attempts. If always is set, the last one is
		// that of all further attempts, too.
		fails   []error
		always  bool
		timeout time.Duration
		want    result
	}{
		"Once": {
			reason: "A call that succeeds is not repeated.",
			want:   result{Calls: 1},
		},
		"Final": {
			reason: "An error that a retry cannot solve is returned at once.",
			fails:  []error{final},
			want:   result{Calls: 1, Err: ErrForbidden},
		},
		"Later": {
			reason: "The last attempt may succeed; the pauses are 1, 2 and 3 seconds.",
			fails:  []error{down, down, down},
			want:   result{Calls: tries, Took: 6 * time.Second},
		},
		"Never": {
			reason: "After the last attempt there is no other.",
			fails:  []error{down}, always: true,
			want: result{Calls: tries, Took: 6 * time.Second, Err: ErrUnavailable},
		},
		"Asked": {
			reason: "The client waits as long as the server asks for.",
			fails:  []error{busy},
			want:   result{Calls: 2, Took: 10 * time.Second},
		},
		"AskedLess": {
			reason: "The client waits for its own pause if the server asks for less.",
			fails:  []error{soon},
			want:   result{Calls: 2, Took: time.Second},
		},
		"AskedTooMuch": {
			reason: "The client does not wait if the server asks for more time than there is.",
			fails:  []error{busy}, timeout: 9 * time.Second,
			want: result{Calls: 1, Err: ErrUnavailable},
		},
		"Timeout": {
			reason: "The overall timeout ends a pause.",
			fails:  []error{down}, always: true, timeout: 2 * time.Second,
			want: result{Calls: 2, Took: 2 * time.Second, Err: ErrUnavailable},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := Server{Timeout: tc.timeout}.limit(t.Context())
				defer cancel()
				c := &client{pause: time.Second}
				start, got := time.Now(), result{}
				err := c.patiently(ctx, func() error {
					got.Calls++
					switch {
					case got.Calls <= len(tc.fails):
						return tc.fails[got.Calls-1]
					case tc.always:
						return tc.fails[len(tc.fails)-1]
					}
					return nil
				})
				got.Took = time.Since(start)
				if p, ok := errors.AsType[*problem](err); ok {
					got.Err = p.why
				}
				if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestRateLimits checks which responses mean that a retry may succeed, and when.
func TestRateLimits(t *testing.T) {
	const date = "Tue, 17 Nov 2026 12:00:00 GMT"
	now, err := http.ParseTime(date)
	if err != nil {
		t.Fatal(err)
	}
	reset := func(in time.Duration) string { return fmt.Sprint(now.Add(in).Unix()) }
	type result struct {
		Why   error
		Again bool
		After time.Duration
	}
	cases := map[string]struct {
		reason string
		status int
		header map[string]string
		want   result
	}{
		"TooMany":      {"Status 429 without headers is retried.", 429, nil, result{ErrUnavailable, true, 0}},
		"Seconds":      {"Retry-After can be in seconds.", 429, map[string]string{"Retry-After": "90"}, result{ErrUnavailable, true, 90 * time.Second}},
		"Date":         {"Retry-After can be a time, by the clock of the server.", 503, map[string]string{"Retry-After": "Tue, 17 Nov 2026 12:01:00 GMT", "Date": date}, result{ErrUnavailable, true, time.Minute}},
		"Past":         {"A Retry-After in the past means now.", 503, map[string]string{"Retry-After": "Tue, 17 Nov 2026 11:00:00 GMT", "Date": date}, result{ErrUnavailable, true, 0}},
		"Negative":     {"A negative Retry-After is ignored.", 429, map[string]string{"Retry-After": "-5"}, result{ErrUnavailable, true, 0}},
		"Secondary":    {"GitHub's secondary rate limit is a 403 with Retry-After.", 403, map[string]string{"Retry-After": "60"}, result{ErrUnavailable, true, time.Minute}},
		"Primary":      {"GitHub's primary rate limit is a 403 with the time of its reset.", 403, map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": reset(time.Hour), "Date": date}, result{ErrUnavailable, true, time.Hour}},
		"PrimaryPast":  {"A reset in the past means now.", 403, map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": reset(-time.Hour), "Date": date}, result{ErrUnavailable, true, 0}},
		"Remaining":    {"A 403 with remaining requests is no rate limit, although GitHub sends the reset.", 403, map[string]string{"X-Ratelimit-Remaining": "9", "X-Ratelimit-Reset": reset(time.Hour), "Date": date}, result{ErrForbidden, false, 0}},
		"ErrRemaining": {"The reset is ignored for a server error while requests remain.", 502, map[string]string{"X-Ratelimit-Remaining": "9", "X-Ratelimit-Reset": reset(time.Hour), "Date": date}, result{ErrUnavailable, true, 0}},
		"Forbidden":    {"A token without the permission is not retried.", 403, nil, result{ErrForbidden, false, 0}},
		"Server":       {"A server error is retried.", 500, nil, result{ErrUnavailable, true, 0}},
		"Timeout":      {"A request timeout is retried.", 408, nil, result{ErrUnavailable, true, 0}},
		"Invalid":      {"An invalid request is not retried.", 422, nil, result{ErrRefused, false, 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := answer{status: tc.status, header: http.Header{}}
			for k, v := range tc.header {
				a.header.Set(k, v)
			}
			p := (&client{}).judge(a)
			if diff := cmp.Diff(tc.want, result{p.why, p.again, p.after}, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRedirects checks that a redirect is followed only on the same server, and only if
// the request stays the same.
func TestRedirects(t *testing.T) {
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		elsewhere = append(elsewhere, req.Method+" "+req.Header.Get("Authorization"))
		fmt.Fprint(w, "[]")
	}))
	defer other.Close()
	const moved = "/api/v3/repos/acme/live/pulls"
	cases := map[string]struct {
		reason string
		method string
		status int
		to     string
		// want is the status of the error; zero means that there is none.
		want int
	}{
		"Get":           {"A permanent redirect of a GET on the server is followed.", "GET", 301, moved, 0},
		"GetTemporary":  {"A temporary redirect of a GET on the server is followed.", "GET", 307, moved, 0},
		"Post":          {"A 301 of a POST is refused, as it would become a GET.", "POST", 301, moved, 301},
		"PostFound":     {"A 302 of a POST is refused, as it would become a GET.", "POST", 302, moved, 302},
		"PostKept":      {"A 308 of a POST is followed.", "POST", 308, moved, 0},
		"GetElsewhere":  {"A GET redirect to another server is refused, as it would get the token.", "GET", 301, other.URL + moved, 301},
		"PostElsewhere": {"A POST redirect to another server is refused, as it would get the token.", "POST", 308, other.URL + moved, 308},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			elsewhere = nil
			c := serve(t, GitHub)
			done := false
			c.Before = func(w http.ResponseWriter, req *http.Request) bool {
				if done || req.Method != tc.method {
					return false
				}
				done = true
				target := tc.to
				if req.URL.RawQuery != "" {
					target += "?" + req.URL.RawQuery
				}
				w.Header().Set("Location", target)
				w.WriteHeader(tc.status)
				return true
			}
			r := proposal(c, "portal/x")
			r.Server.Kind = GitHub
			_, err := Open(t.Context(), r)
			status := 0
			if e, ok := errors.AsType[*Error](err); ok {
				status = e.Status
			}
			if status != tc.want || (err == nil) != (tc.want == 0) {
				t.Errorf("%s: status is %d, %v; want %d", tc.reason, status, err, tc.want)
			}
			if open := len(c.All); (open == 1) != (tc.want == 0) {
				t.Errorf("%s: %d change requests are open", tc.reason, open)
			}
			if len(elsewhere) > 0 {
				t.Errorf("%s: other server got %v", tc.reason, elsewhere)
			}
		})
	}
}

// TestAnswerSize checks the size limit of a response.
func TestAnswerSize(t *testing.T) {
	for size, fits := range map[int]bool{maxAnswer: true, maxAnswer + 1: false} {
		c := serve(t, GitHub)
		c.Before = func(w http.ResponseWriter, req *http.Request) bool {
			if req.Method == http.MethodGet {
				fmt.Fprint(w, "["+strings.Repeat(" ", size-2)+"]")
			}
			return req.Method == http.MethodGet
		}
		r := proposal(c, "portal/x")
		r.Server.Kind = GitHub
		if _, err := Open(t.Context(), r); (err == nil) != fits || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("response of %d bytes returned %v", size, err)
		}
	}
}

// TestTokenIsMasked checks that no encoding of the token is in the message of an error
// whose server repeats it.
func TestTokenIsMasked(t *testing.T) {
	const special = "t0p/s3+cr3t%=~"
	for name, form := range map[string]string{
		"Plain": special, "Query": url.QueryEscape(special), "Path": url.PathEscape(special), "Base64": base64.StdEncoding.EncodeToString([]byte(special)),
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, GitLab)
			c.Before = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprintf(w, `{"message":"not with %s"}`, form)
				return true
			}
			r := proposal(c, "portal/x")
			r.Server.Kind, r.Server.Token = GitLab, secret.Text(special)
			_, err := Open(t.Context(), r)
			if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "not with") || strings.Contains(err.Error(), form) {
				t.Errorf("message contains the token: %v", err)
			}
		})
	}
}

// TestTokenIsCut repeats the token across the end of what is shown of a message: no
// part of it is shown.
func TestTokenIsCut(t *testing.T) {
	const special = "t0p-s3cr3t-0123456789"
	c := serve(t, GitLab)
	c.Before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"message":"%s%s"}`, strings.Repeat("x", 290), special)
		return true
	}
	r := proposal(c, "portal/x")
	r.Server.Kind, r.Server.Token = GitLab, secret.Text(special)
	if _, err := Open(t.Context(), r); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "xxx") || strings.Contains(err.Error(), special[:6]) {
		t.Errorf("message contains a part of the token: %v", err)
	}
}

// TestOpenAgain checks what is updated in a change request that is open already.
func TestOpenAgain(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"Title": func(r *Request) { r.Title = "Add Database shop" },
		"Body":  func(r *Request) { r.Body = "please, soon" },
		"Both":  func(r *Request) { r.Title, r.Body = "Add Database shop", "" },
	} {
		for _, kind := range three {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				c := serve(t, kind)
				r := proposal(c, "portal/x")
				r.Server.Kind = kind
				if _, err := Open(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				change(&r)
				got, err := Open(t.Context(), r)
				if err != nil || !got.Existed {
					t.Errorf("Open returned %+v, %v; want an existing change request", got, err)
				}
				want := []*contract.Entry{{Number: 1, Source: r.Source, Target: r.Target, Title: r.Title, Body: r.Body}}
				if diff := cmp.Diff(want, c.All); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestLabelsRefused checks that labels that cannot be set are a remark, and no error:
// the change request is open.
func TestLabelsRefused(t *testing.T) {
	for _, kind := range three {
		t.Run(string(kind), func(t *testing.T) {
			c := serve(t, kind)
			c.Before = func(w http.ResponseWriter, req *http.Request) bool {
				labels := req.Method == http.MethodPut || strings.HasSuffix(req.URL.Path, "/labels")
				if labels {
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprintf(w, `{"message":"no labels for %s"}`, token)
				}
				return labels
			}
			r := proposal(c, "portal/x")
			r.Server.Kind, r.Labels = kind, []string{"a"}
			got, err := Open(t.Context(), r)
			if err != nil || got.Number != 1 || len(c.All) != 1 {
				t.Fatalf("Open returned %+v, %v; %d are open", got, err, len(c.All))
			}
			if len(got.Remarks) != 1 || !strings.Contains(got.Remarks[0], "no labels for") || strings.Contains(got.Remarks[0], token) {
				t.Errorf("remarks are %q", got.Remarks)
			}
		})
	}
}

func TestIsOpen(t *testing.T) {
	cases := map[string]struct {
		reason string
		entry  *contract.Entry
		want   bool
	}{
		"None":    {"A repository without change requests has none open.", nil, false},
		"Open":    {"An open change request for the branches counts.", &contract.Entry{Source: "portal/x", Target: "main"}, true},
		"Closed":  {"A closed change request does not count.", &contract.Entry{Source: "portal/x", Target: "main", Closed: true}, false},
		"Foreign": {"A change request of a fork does not count.", &contract.Entry{Source: "portal/x", Target: "main", Foreign: true}, false},
		"Target":  {"A change request for another target does not count.", &contract.Entry{Source: "portal/x", Target: "next"}, false},
		"Source":  {"A change request of another branch does not count.", &contract.Entry{Source: "portal/y", Target: "main"}, false},
	}
	for name, tc := range cases {
		for _, kind := range three {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				c := serve(t, kind)
				if tc.entry != nil {
					entry := *tc.entry
					entry.Number = 1
					c.All = append(c.All, &entry)
				}
				got, err := IsOpen(t.Context(), proposal(c, "portal/x"))
				if got != tc.want || err != nil {
					t.Errorf("%s: IsOpen returned %v, %v", tc.reason, got, err)
				}
				for _, call := range c.Calls() {
					if !strings.HasPrefix(call, "GET ") {
						t.Errorf("%s: request is not a read: %s", tc.reason, call)
					}
				}
			})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := IsOpen(ctx, proposal(serve(t, GitHub), "portal/x")); got || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled IsOpen returned %v, %v", got, err)
	}
}
