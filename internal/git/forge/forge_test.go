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

// proposal is a request for the branch of a test.
func proposal(c *contract.Server, source string) Request {
	return Request{Server: server(c), Repository: c.Repository, Source: source, Target: "main", Title: "Add Database orders", Body: "please"}
}

// TestOpen opens requests, opens them again, and wants each once.
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
				t.Fatalf("opened (-want +got):\n%s%v", diff, err)
			}
			r.Title, r.Body, r.Labels, r.Repository = "Add Database shop", "", []string{"a", "b"}, "/acme/live.git/"
			got, err = Open(t.Context(), r)
			want.Existed = true
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("updated (-want +got):\n%s%v", diff, err)
			}
			entry := contract.Entry{Number: 4, Source: "portal/x", Target: "main", Title: "Add Database shop", Labels: []string{"a", "b"}}
			if diff := cmp.Diff(entry, *c.All[3]); diff != "" || len(c.All) != 4 {
				t.Errorf("of %d (-want +got):\n%s", len(c.All), diff)
			}
			r.Target, r.Draft, r.Labels = "", true, nil
			got, err = Open(t.Context(), r)
			last := c.All[len(c.All)-1]
			title := map[Kind]string{GitHub: r.Title, GitLab: "Draft: " + r.Title, Gitea: "WIP: " + r.Title}[kind]
			if err != nil || got.Number != 5 || got.Target != "trunk" || last.Target != "trunk" || last.Title != title || last.Draft != (kind == GitHub) {
				t.Errorf("a draft for the usual branch: %+v, %v, %+v", got, err, last)
			}
			for _, call := range c.Calls() {
				if strings.HasPrefix(call, "PATCH") || strings.HasPrefix(call, "PUT") {
					return
				}
			}
			t.Errorf("nothing was updated: %v", c.Calls())
		})
	}
}

// TestUntouched leaves a request alone that is as it should be.
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
				t.Errorf("%s: %s", kind, call)
			}
		}
	}
}

// TestRefused are answers after which nothing is open, and what is said then.
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
		"Token":    {"a wrong token", func(_ *contract.Server, r *Request) { r.Server.Token = "wr0ng-" + token }, ErrCredentials, "the server does not accept the token", "has not expired"},
		"NoToken":  {"none", func(_ *contract.Server, r *Request) { r.Server.Token = "" }, ErrCredentials, "the server asks for a token", "give a token"},
		"NotOne":   {"a token with a line break in it", func(_ *contract.Server, r *Request) { r.Server.Token = "a\nb" }, ErrCredentials, "characters that no token has", "whole"},
		"NoFile":   {"a token file that is not there", func(_ *contract.Server, r *Request) { r.Server.Token, r.Server.TokenFile = "", "nope" }, ErrRefused, `the token file "nope" cannot be read`, "check the path"},
		"Scope":    {"a token that may only read", func(c *contract.Server, _ *Request) { c.Before = answers(403, "", `{"message":"no, TOKEN"}`) }, ErrForbidden, `does not let this token do it, and says "no, Bearer ********"`, "give a token that may"},
		"Gone":     {"a repository that is gone", func(_ *contract.Server, r *Request) { r.Repository = "acme/nope" }, ErrNotFound, "there is no such repository", "check the spelling"},
		"Name":     {"no repository at all", func(_ *contract.Server, r *Request) { r.Repository = "acme" }, ErrNotFound, `"acme" is not the name`, "name"},
		"Dots":     {"a way out", func(_ *contract.Server, r *Request) { r.Repository = "../acme" }, ErrNotFound, "is not the name", "name"},
		"Same":     {"branches without a difference", func(c *contract.Server, r *Request) { c.Same[r.Source] = true }, ErrNoDifference, "the branches do not differ", "nothing to propose"},
		"Itself":   {"one branch for itself", func(_ *contract.Server, r *Request) { r.Source = "main" }, ErrRefused, `the branch "main" cannot be proposed for "main"`, "another branch"},
		"Down":     {"a server with troubles of its own", func(c *contract.Server, _ *Request) { c.Before = answers(502, "", "<html>TOKEN") }, ErrUnavailable, "the server answers 502 Bad Gateway", "try again later"},
		"Limit":    {"asked too often", func(c *contract.Server, _ *Request) { c.Before = answers(429, "Retry-After: 3600", "{}") }, ErrUnavailable, "asked too often", "try again in 1h0m0s"},
		"Limit403": {"the same at GitHub", func(c *contract.Server, _ *Request) { c.Before = answers(403, "X-RateLimit-Remaining: 0", "{}") }, ErrUnavailable, "asked too often", "try again later"},
		"HTML":     {"a page for people", func(c *contract.Server, _ *Request) { c.Before = answers(200, "", "<html>") }, ErrRefused, "not what was asked for", "check the address"},
		"Moved":    {"a repository of another name", func(c *contract.Server, _ *Request) { c.Before = answers(301, "Location: http://other.invalid/", "") }, ErrRefused, "answers 301", "another name"},
		"Title": {"a title that is none", func(c *contract.Server, _ *Request) {
			c.Before = answers(422, "", `{"message":"x","errors":[{"field":"title","code":"missing"}]}`)
		}, ErrRefused, `refuses it with 422 Unprocessable Entity, and says "x: title is missing"`, "check the branches"},
		"Plain":   {"a server without such requests", func(_ *contract.Server, r *Request) { r.Server.Kind = Plain }, ErrRefused, "knows no change requests", "which kind"},
		"Kind":    {"a kind nobody knows", func(_ *contract.Server, r *Request) { r.Server.Kind = "svn" }, ErrRefused, `no kind of server called "svn"`, "use github"},
		"Address": {"no address", func(_ *contract.Server, r *Request) { r.Server.Address = "u:" + token + "@x" }, ErrRefused, "not that of a server", "write https://host"},
		"CA":      {"no authority", func(_ *contract.Server, r *Request) { r.Server.CAData = []byte("x") }, ErrRefused, "not a certificate", "BEGIN"},
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
					t.Errorf("%s\n%v (%+v)\nwant %q, %q", tc.reason, err, e, tc.err, tc.hint)
				}
				if shown := fmt.Sprintf("%v %+v %#v", err, e, e); strings.Contains(shown, token) {
					t.Errorf("%s\nthe secret is shown: %s", tc.reason, shown)
				}
				if len(c.All) != 0 {
					t.Errorf("%s\nthere is a request all the same", tc.reason)
				}
			})
		}
	}
}

// TestTroubles are servers that fail for a while: the request is open in the
// end, and only once.
func TestTroubles(t *testing.T) {
	cases := map[string]struct {
		reason string
		// fail answers the nth request of a method, and reports whether it did.
		fail func(c *contract.Server, n int, w http.ResponseWriter, req *http.Request) bool
	}{
		"First": {"the first call", func(_ *contract.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				w.WriteHeader(503)
			}
			return n == 1
		}},
		"Twice": {"two calls", func(_ *contract.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n <= 2 {
				w.WriteHeader(500)
			}
			return n <= 2
		}},
		"Lost": {"the request is made and the answer is lost", func(c *contract.Server, _ int, w http.ResponseWriter, req *http.Request) bool {
			if req.Method != "POST" || len(c.All) > 0 {
				return false
			}
			c.All = append(c.All, &contract.Entry{Number: 1, Source: "portal/x", Target: "main", Title: "?"})
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
			return true
		}},
		"Race": {"somebody else is quicker", func(c *contract.Server, _ int, _ http.ResponseWriter, req *http.Request) bool {
			if req.Method == "POST" && len(c.All) == 0 {
				c.All = append(c.All, &contract.Entry{Number: 1, Source: "portal/x", Target: "main", Title: "?"})
			}
			return false
		}},
		"Wait": {"the server says when", func(_ *contract.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
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
					t.Errorf("%s\n%+v, %v, %d are open", tc.reason, got, err, len(c.All))
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
				t.Errorf("%s: %q, %v", kind, got, err)
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
		"Plain": {"a web server with repositories", 404, "not found", Plain, ""},
		"Page":  {"one that answers everything", 200, "<html>", Plain, ""},
		"Login": {"one that asks who it is", 401, "<html>", Plain, ""},
		"Down":  {"one that is not well", 503, "", "", "cannot ask 127.0.0.1"},
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
				t.Errorf("%s\n%q, %v", tc.reason, got, err)
			}
		})
	}
	for host, want := range map[string]Kind{"GitHub.com": GitHub, "acme.ghe.com": GitHub, "gitlab.com": GitLab, "codeberg.org": Forgejo, "git.example.com": ""} {
		if got := KindOf(host); got != want {
			t.Errorf("%s is %q, not %q", host, got, want)
		}
	}
}

// TestAPI are the addresses that are asked.
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
			t.Errorf("%+v: %s, want %s", server, got, want)
		}
	}
}

// TestSlow ends when it has taken long enough, or nobody waits any more.
func TestSlow(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }))
	defer srv.Close()
	r := Request{Server: Server{Kind: GitHub, Address: srv.URL, Timeout: 50 * time.Millisecond}, Repository: "a/b", Source: "x", Target: "y"}
	_, err := Open(t.Context(), r)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "not done after 50ms") {
		t.Errorf("slow: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
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
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "cannot be reached") || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

// TestTLS trusts whom it is told to, and nobody else.
func TestTLS(t *testing.T) {
	c := &contract.Server{Kind: contract.Gitea, Repository: "acme/live", Token: token}
	srv := httptest.NewUnstartedServer(c)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	c.URL = srv.URL
	r := proposal(c, "portal/x")
	if _, err := Open(t.Context(), r); err == nil || !strings.Contains(err.Error(), "is not trusted") {
		t.Errorf("a stranger: %v", err)
	}
	r.Server.SkipTLSVerify = true
	if _, err := Open(t.Context(), r); err != nil {
		t.Errorf("anybody: %v", err)
	}
}
