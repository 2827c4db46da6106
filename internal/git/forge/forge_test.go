package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/git/forge/contract"
	"example.dev/ingestor/internal/secret"
)

const token = "t0ps3cr3t"

// serve starts a server of a kind.
func serve(t testing.TB, kind Kind) *contract.Server {
	t.Helper()
	c := &contract.Server{Kind: string(kind), Repository: "acme/live", Token: token, Same: map[string]bool{}}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	c.URL = srv.URL
	return c
}

func server(c *contract.Server) Server { return Server{Address: c.URL, Token: token, Pause: 1} }

var three = []Kind{GitHub, GitLab, Gitea}

// proposal returns a request for a branch.
func proposal(c *contract.Server, source string) Request {
	return Request{Server: server(c), Repository: c.Repository, Source: source, Target: "main", Title: "Add Database orders", Body: "please"}
}

// TestOpen opens change requests repeatedly, and checks that each exists once.
func TestOpen(t *testing.T) {
	for _, kind := range three {
		t.Run(string(kind), func(t *testing.T) {
			c := serve(t, kind)
			c.All = []*contract.Entry{
				{Number: 1, Source: "portal/x", Target: "main", Title: "closed", Closed: true},
				{Number: 2, Source: "portal/x", Target: "main", Title: "of a fork", Foreign: true},
				{Number: 3, Source: "portal/x", Target: "next", Title: "for another branch"},
			}
			r := proposal(c, "portal/x")
			got, err := Open(t.Context(), r)
			where := map[Kind]string{GitHub: "/acme/live/pull/4", GitLab: "/acme/live/-/merge_requests/4", Gitea: "/acme/live/pull/4"}[kind]
			want := Change{URL: c.URL + where, Number: 4, Target: "main"}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("opened change request (-want +got):\n%s%v", diff, err)
			}
			r.Title, r.Body, r.Labels, r.Repository = "Add Database shop", "", []string{"a", "b"}, "/acme/live.git/"
			got, err = Open(t.Context(), r)
			want.Existed = true
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("updated change request (-want +got):\n%s%v", diff, err)
			}
			entry := contract.Entry{Number: 4, Source: "portal/x", Target: "main", Title: "Add Database shop", Labels: []string{"a", "b"}}
			if diff := cmp.Diff(entry, *c.All[3]); diff != "" || len(c.All) != 4 {
				t.Errorf("of %d change requests the last (-want +got):\n%s", len(c.All), diff)
			}
			r.Target, r.Draft, r.Labels = "", true, nil
			got, err = Open(t.Context(), r)
			last := c.All[len(c.All)-1]
			title := map[Kind]string{GitHub: r.Title, GitLab: "Draft: " + r.Title, Gitea: "WIP: " + r.Title}[kind]
			if err != nil || got.Number != 5 || got.Target != "trunk" || last.Target != "trunk" || last.Title != title || last.Draft != (kind == GitHub) {
				t.Errorf("draft for the default branch is %+v, %v, %+v", got, err, last)
			}
			for _, call := range c.Calls() {
				if strings.HasPrefix(call, "PATCH") || strings.HasPrefix(call, "PUT") {
					return
				}
			}
			t.Errorf("no change request was updated: %v", c.Calls())
		})
	}
}

// TestUntouched checks that an unchanged change request is not updated.
func TestUntouched(t *testing.T) {
	for _, kind := range three {
		c := serve(t, kind)
		r := proposal(c, "portal/x")
		for range 2 {
			if _, err := Open(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		for _, call := range c.Calls() {
			if strings.HasPrefix(call, "PATCH") || strings.HasPrefix(call, "PUT") {
				t.Errorf("%s: server got the update %s", kind, call)
			}
		}
	}
}

// TestRefused checks responses after which no change request is open, and their
// errors.
func TestRefused(t *testing.T) {
	answers := func(status int, header, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, req *http.Request) bool {
			if k, v, ok := strings.Cut(header, ": "); ok {
				w.Header().Set(k, v)
			}
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(text, "TOKEN", req.Header.Get("Authorization")))
			return true
		}
	}
	cases := map[string]struct {
		reason string
		change func(c *contract.Server, r *Request)
		is     error
		err    string
		hint   string
	}{
		"Token":    {"A wrong token is refused.", func(_ *contract.Server, r *Request) { r.Server.Token = "wr0ng-" + token }, ErrCredentials, "server rejected the token", "has not expired"},
		"NoToken":  {"none", func(_ *contract.Server, r *Request) { r.Server.Token = "" }, ErrCredentials, "server requires a token", "set a token"},
		"NotOne":   {"A token with a line break is refused.", func(_ *contract.Server, r *Request) { r.Server.Token = "a\nb" }, ErrCredentials, "token contains invalid characters", "complete"},
		"NoFile":   {"A missing token file is reported.", func(_ *contract.Server, r *Request) { r.Server.Token, r.Server.TokenFile = "", "nope" }, ErrRefused, `cannot read token file "nope"`, "check the path"},
		"Scope":    {"A token that may only read is refused.", func(c *contract.Server, _ *Request) { c.Before = answers(403, "", `{"message":"no, TOKEN"}`) }, ErrForbidden, `token lacks permission: "no, Bearer ********"`, "set a token that may"},
		"Gone":     {"A missing repository is reported.", func(_ *contract.Server, r *Request) { r.Repository = "acme/nope" }, ErrNotFound, "repository not found", "check the spelling"},
		"Name":     {"An incomplete repository name is refused.", func(_ *contract.Server, r *Request) { r.Repository = "acme" }, ErrNotFound, `invalid repository name "acme"`, "name"},
		"Dots":     {"A repository name with a path traversal is refused.", func(_ *contract.Server, r *Request) { r.Repository = "../acme" }, ErrNotFound, "invalid repository name", "name"},
		"Same":     {"Branches without differences are reported.", func(c *contract.Server, r *Request) { c.Same[r.Source] = true }, ErrNoDifference, "the branches do not differ", "nothing to propose"},
		"Itself":   {"A branch cannot be proposed for itself.", func(_ *contract.Server, r *Request) { r.Source = "main" }, ErrRefused, `cannot propose branch "main" for branch "main"`, "use a source branch"},
		"Down":     {"A server error is reported.", func(c *contract.Server, _ *Request) { c.Before = answers(502, "", "<html>TOKEN") }, ErrUnavailable, "server responded with 502 Bad Gateway", "try again later"},
		"Limit":    {"A rate limit is reported.", func(c *contract.Server, _ *Request) { c.Before = answers(429, "Retry-After: 3600", "{}") }, ErrUnavailable, "rate limit exceeded", "try again in 1h0m0s"},
		"Limit403": {"A rate limit of GitHub is reported.", func(c *contract.Server, _ *Request) { c.Before = answers(403, "X-RateLimit-Remaining: 0", "{}") }, ErrUnavailable, "rate limit exceeded", "try again later"},
		"HTML":     {"An HTML page is an unexpected response.", func(c *contract.Server, _ *Request) { c.Before = answers(200, "", "<html>") }, ErrRefused, "unexpected response", "check the address"},
		"Moved":    {"A renamed repository is reported.", func(c *contract.Server, _ *Request) { c.Before = answers(301, "Location: http://other.invalid/", "") }, ErrRefused, "responded with 301", "renamed"},
		"Title": {"An invalid title is reported.", func(c *contract.Server, _ *Request) {
			c.Before = answers(422, "", `{"message":"x","errors":[{"field":"title","code":"missing"}]}`)
		}, ErrRefused, `refused the request with 422 Unprocessable Entity: "x: title is missing"`, "check the branches"},
		"Plain":   {"A server without change requests is reported.", func(_ *contract.Server, r *Request) { r.Server.Kind = Plain }, ErrRefused, "does not support change requests", "set the kind"},
		"Kind":    {"An unknown kind of server is refused.", func(_ *contract.Server, r *Request) { r.Server.Kind = "svn" }, ErrRefused, `unknown kind of server "svn"`, "use github"},
		"Address": {"An invalid address is refused.", func(_ *contract.Server, r *Request) { r.Server.Address = "u:" + token + "@x" }, ErrRefused, "invalid server address", "write https://host"},
		"CA":      {"An invalid certificate authority is refused.", func(_ *contract.Server, r *Request) { r.Server.CAData = []byte("x") }, ErrRefused, "certificate authority is not in PEM format", "BEGIN"},
	}
	for name, tc := range cases {
		for _, kind := range three {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				c := serve(t, kind)
				r := proposal(c, "portal/x")
				r.Server.Kind = kind
				tc.change(c, &r)
				_, err := Open(t.Context(), r)
				e, ok := errors.AsType[*Error](err)
				if !ok || !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.err) || !strings.Contains(e.Hint, tc.hint) {
					t.Errorf("%s\nerror is %v (%+v)\nwant %q, %q", tc.reason, err, e, tc.err, tc.hint)
				}
				if shown := fmt.Sprintf("%v %+v %#v", err, e, e); strings.Contains(shown, token) {
					t.Errorf("%s\nerror contains the token: %s", tc.reason, shown)
				}
				if len(c.All) != 0 {
					t.Errorf("%s\nchange request was created, want none", tc.reason)
				}
			})
		}
	}
}

// TestTroubles checks servers with temporary failures: in the end one change
// request is open.
func TestTroubles(t *testing.T) {
	cases := map[string]struct {
		reason string
		// fail handles the nth request of a method, and reports whether it did.
		fail func(c *contract.Server, n int, w http.ResponseWriter, req *http.Request) bool
	}{
		"First": {"The first request fails.", func(_ *contract.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				w.WriteHeader(503)
			}
			return n == 1
		}},
		"Twice": {"Two requests fail.", func(_ *contract.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n <= 2 {
				w.WriteHeader(500)
			}
			return n <= 2
		}},
		"Lost": {"The change request is created but the response is lost.", func(c *contract.Server, _ int, w http.ResponseWriter, req *http.Request) bool {
			if req.Method != "POST" || len(c.All) > 0 {
				return false
			}
			c.All = append(c.All, &contract.Entry{Number: 1, Source: "portal/x", Target: "main", Title: "?"})
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
			return true
		}},
		"Race": {"Another client creates the change request first.", func(c *contract.Server, _ int, _ http.ResponseWriter, req *http.Request) bool {
			if req.Method == "POST" && len(c.All) == 0 {
				c.All = append(c.All, &contract.Entry{Number: 1, Source: "portal/x", Target: "main", Title: "?"})
			}
			return false
		}},
		"Wait": {"The server asks to wait.", func(_ *contract.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(429)
			}
			return n == 1
		}},
	}
	for name, tc := range cases {
		for _, kind := range three {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				t.Parallel()
				c := serve(t, kind)
				n := 0
				c.Before = func(w http.ResponseWriter, req *http.Request) bool { n++; return tc.fail(c, n, w, req) }
				r := proposal(c, "portal/x")
				r.Server.Kind = kind
				got, err := Open(t.Context(), r)
				if err != nil || got.Number != 1 || len(c.All) != 1 || c.All[0].Title != r.Title {
					t.Errorf("%s\nOpen returned %+v, %v; %d are open", tc.reason, got, err, len(c.All))
				}
			})
		}
	}
}

func TestAsk(t *testing.T) {
	for _, kind := range three {
		c := serve(t, kind)
		for _, secret := range []secret.Text{token, ""} {
			s := server(c)
			s.Token = secret
			if got, err := Ask(t.Context(), s); err != nil || got != kind {
				t.Errorf("%s: kind is %q, %v", kind, got, err)
			}
		}
	}
	cases := map[string]struct {
		reason string
		status int
		text   string
		want   Kind
		err    string
	}{
		"Plain": {"A web server with repositories is plain.", 404, "not found", Plain, ""},
		"Page":  {"A server that responds to everything is plain.", 200, "<html>", Plain, ""},
		"Login": {"A server that requires credentials is plain.", 401, "<html>", Plain, ""},
		"Down":  {"A server error is reported.", 503, "", "", "cannot detect the kind of server 127.0.0.1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.text)
			}))
			defer srv.Close()
			got, err := Ask(t.Context(), Server{Address: srv.URL, Pause: 1})
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nkind is %q, %v", tc.reason, got, err)
			}
		})
	}
	for host, want := range map[string]Kind{"GitHub.com": GitHub, "acme.ghe.com": GitHub, "gitlab.com": GitLab, "codeberg.org": Forgejo, "git.example.com": ""} {
		if got := KindOf(host); got != want {
			t.Errorf("kind of %s is %q, want %q", host, got, want)
		}
	}
}

// TestAPI checks the base URLs of the APIs.
func TestAPI(t *testing.T) {
	for want, server := range map[string]Server{
		"https://api.github.com/repos/a/b/pulls":                           {Kind: GitHub, Address: "https://github.com"},
		"https://api.acme.ghe.com/repos/a/b/pulls":                         {Kind: GitHub, Address: "https://acme.ghe.com/"},
		"https://github.example.com/api/v3/repos/a/b/pulls":                {Kind: GitHub, Address: "https://github.example.com"},
		"https://api.example.com/x/repos/a/b/pulls":                        {Kind: GitHub, Address: "https://github.example.com", API: "https://api.example.com/x/"},
		"https://gitlab.com/api/v4/projects/a%2Fb%2Fc/merge_requests":      {Kind: GitLab, Address: "https://gitlab.com"},
		"https://example.com/lab/api/v4/projects/a%2Fb%2Fc/merge_requests": {Kind: GitLab, Address: "https://example.com/lab/"},
		"https://codeberg.org/api/v1/repos/a/b/pulls":                      {Kind: Forgejo, Address: "https://codeberg.org"},
	} {
		c, err := server.connect()
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.forge(server.Kind)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch f := f.(type) {
		case github:
			got = f.at("a/b", "pulls")
		case gitea:
			got = f.at("a/b", "pulls")
		case gitlab:
			got = f.at("a/b/c", "merge_requests")
		}
		if got != want {
			t.Errorf("%+v: API is %s, want %s", server, got, want)
		}
	}
}

// TestSlow checks that a call ends at its timeout or when it is cancelled.
func TestSlow(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }))
	defer srv.Close()
	r := Request{Server: Server{Kind: GitHub, Address: srv.URL, Timeout: 50 * time.Millisecond}, Repository: "a/b", Source: "x", Target: "y"}
	_, err := Open(t.Context(), r)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "overall timeout of 50ms exceeded") {
		t.Errorf("slow call returned %v, want the timeout", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call returned %v, want context.Canceled", err)
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Request{Server: Server{Kind: GitLab, Address: gone, Pause: 1}, Repository: "a/b", Source: "x", Target: "y"})
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "cannot reach") || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

// TestTLS checks that only the configured certificate authority is trusted.
func TestTLS(t *testing.T) {
	c := &contract.Server{Kind: contract.Gitea, Repository: "acme/live", Token: token}
	srv := httptest.NewUnstartedServer(c)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	c.URL = srv.URL
	r := proposal(c, "portal/x")
	if _, err := Open(t.Context(), r); err == nil || !strings.Contains(err.Error(), "is not trusted") {
		t.Errorf("unknown certificate returned %v, want an error", err)
	}
	r.Server.SkipTLSVerify = true
	if _, err := Open(t.Context(), r); err != nil {
		t.Errorf("call without verification returned %v", err)
	}
}
