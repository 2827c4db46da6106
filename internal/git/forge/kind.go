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

// Kind is the kind of a server.
type Kind string

// Kinds of servers. Plain servers have repositories, but no change requests.
const (
	GitHub  Kind = "github"
	GitLab  Kind = "gitlab"
	Gitea   Kind = "gitea"
	Forgejo Kind = "forgejo"
	Plain   Kind = "git"
)

// Kinds are all kinds of servers.
var Kinds = []Kind{GitHub, GitLab, Gitea, Forgejo, Plain}

// known are the well-known public servers.
var known = map[string]Kind{
	"github.com":    GitHub,
	"gitlab.com":    GitLab,
	"gitea.com":     Gitea,
	"codeberg.org":  Forgejo,
	"bitbucket.org": Plain,
}

// KindOf returns the kind of a well-known server by its name, or "".
func KindOf(host string) Kind {
	host = strings.ToLower(host)
	if strings.HasSuffix(host, residence) {
		return GitHub
	}
	return known[host]
}

// residence is the domain suffix of GitHub Enterprise Cloud with data residency.
const residence = ".ghe.com"

// Ask returns the kind of a server: the configured one, the one its name implies, or
// the one detected by requests. A server without change requests is Plain. The error
// is an *Error.
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
			// No response says nothing about the kind of the server.
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

// has reports whether a response is an object with a non-empty string under key.
func (a answer) has(key string) bool {
	var object map[string]any
	if json.Unmarshal(a.body, &object) != nil {
		return false
	}
	text, ok := object[key].(string)
	return ok && text != ""
}

// forge returns the client for a kind of server.
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
		return nil, wrong(ErrRefused, "set the kind of the server if it supports them", "server does not support change requests")
	}
	return nil, wrong(ErrRefused, "use github, gitlab, gitea, forgejo or git", "unknown kind of server %q", string(k))
}

// githubAPI returns the URL of GitHub's API: a separate host, or a path on a GitHub
// Enterprise Server.
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
