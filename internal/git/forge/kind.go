package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Kind is what a server is.
type Kind string

// The kinds of servers. Plain ones keep repositories and know no change requests.
const (
	GitHub  Kind = "github"
	GitLab  Kind = "gitlab"
	Gitea   Kind = "gitea"
	Forgejo Kind = "forgejo"
	Plain   Kind = "git"
)

// Kinds are all kinds of servers.
var Kinds = []Kind{GitHub, GitLab, Gitea, Forgejo, Plain}

// known are the servers that everybody knows.
var known = map[string]Kind{
	"github.com":    GitHub,
	"gitlab.com":    GitLab,
	"gitea.com":     Gitea,
	"codeberg.org":  Forgejo,
	"bitbucket.org": Plain,
}

// KindOf returns the kind of a server that everybody knows by its name, or "".
func KindOf(host string) Kind {
	host = strings.ToLower(host)
	if strings.HasSuffix(host, residence) {
		return GitHub
	}
	return known[host]
}

// residence is where GitHub has servers of its customers.
const residence = ".ghe.com"

// Ask returns the kind of a server: the one that is given, the one its name
// tells, or what it says itself. One that knows no change requests is Plain. An
// error is an *Error.
func Ask(ctx context.Context, s Server) (Kind, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	asks := Request{Server: s}
	c, err := s.connect()
	if err != nil {
		return "", asks.fail(ctx, c, err)
	}
	defer c.close()
	var kind Kind
	err = c.patiently(ctx, func() error {
		kind, err = c.kind(ctx)
		return err
	})
	if err != nil {
		return "", asks.fail(ctx, c, err)
	}
	return kind, nil
}

// kind returns the kind of the server.
func (c *client) kind(ctx context.Context) (Kind, error) {
	if k := cmp.Or(c.server.Kind, KindOf(c.at.Hostname())); k != "" {
		return k, nil
	}
	for _, q := range []struct {
		kind Kind
		path string
		is   func(answer) bool
	}{
		{Gitea, "/api/v1/version", func(a answer) bool { return a.status == http.StatusOK && a.has("version") }},
		{GitLab, "/api/v4/version", func(a answer) bool {
			return a.status == http.StatusOK && a.has("version") || a.header.Get("X-Gitlab-Meta") != "" ||
				a.status == http.StatusUnauthorized && strings.HasPrefix(a.says(), "401 ")
		}},
		{GitHub, "/api/v3/meta", func(a answer) bool {
			return a.header.Get("X-Github-Request-Id") != "" || a.header.Get("X-Github-Enterprise-Version") != ""
		}},
	} {
		a, err := c.ask(ctx, http.MethodGet, strings.TrimRight(c.at.String(), "/")+q.path, nil)
		p, ok := errors.AsType[*problem](err)
		if ok && p.status == 0 || ok && p.again {
			// It did not answer; that says nothing about what it is.
			return "", err
		}
		if q.is(a) {
			c.server.Kind = q.kind
			return q.kind, nil
		}
	}
	c.server.Kind = Plain
	return Plain, nil
}

// has reports whether an answer is an object with a text under key.
func (a answer) has(key string) bool {
	var object map[string]any
	if json.Unmarshal(a.body, &object) != nil {
		return false
	}
	text, ok := object[key].(string)
	return ok && text != ""
}

// forge returns what speaks to servers of a kind.
func (c *client) forge(k Kind) (forge, error) {
	api := strings.TrimRight(c.server.API, "/")
	under := func(path string) string { return cmp.Or(api, strings.TrimRight(c.at.String(), "/")+path) }
	switch k {
	case GitHub:
		return github{pulls{c, cmp.Or(api, githubAPI(c.at))}}, nil
	case GitLab:
		return gitlab{c, under("/api/v4")}, nil
	case Gitea, Forgejo:
		return gitea{pulls{c, under("/api/v1")}}, nil
	case Plain:
		return nil, wrong(ErrRefused, "say which kind of server it is if it is one that does", "the server knows no change requests")
	}
	return nil, wrong(ErrRefused, "use github, gitlab, gitea, forgejo or git", "there is no kind of server called %q", string(k))
}

// githubAPI is where GitHub has its interface for programs: beside itself, or
// below itself in other people's houses.
func githubAPI(at *url.URL) string {
	host := strings.ToLower(at.Hostname())
	if host == "github.com" || host == "www.github.com" {
		return "https://api.github.com"
	}
	if strings.HasSuffix(host, residence) {
		return at.Scheme + "://api." + at.Host
	}
	return strings.TrimRight(at.String(), "/") + "/api/v3"
}
