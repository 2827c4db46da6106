package cluster

import (
	"fmt"
	"net/http"
	"strings"
)

// person is the user that calls are made as.
type person struct {
	user   string
	groups []string
}

// reserved is the prefix of names that Kubernetes reserves: a member of
// system:masters may do everything.
const reserved = "system:"

// Impersonates reports whether the cluster itself decides what a user may do.
func (c *Cluster) Impersonates() bool { return c.settings.Impersonate }

// As returns the same cluster, with calls made as a user: the name and groups of the
// sign-in, with the prefixes of the settings. Names that Kubernetes reserves are
// refused.
func (c *Cluster) As(user string, groups []string) (*Cluster, error) {
	p := &person{user: c.settings.UserPrefix + user}
	if user == "" {
		return nil, &Error{Cluster: c.name, Doing: "impersonate a user", Reason: Forbidden,
			Err: fmt.Errorf("the sign-in has no user name"), Hint: "set auth.providers.oidc.userClaim to a claim that names the user; users who come through a Backstage have no name in clusters"}
	}
	for _, g := range groups {
		p.groups = append(p.groups, c.settings.GroupPrefix+g)
	}
	for _, name := range append([]string{p.user}, p.groups...) {
		// White space around the value of a header is dropped in transit.
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), reserved) || strings.ContainsAny(name, "\r\n\x00") {
			return nil, &Error{Cluster: c.name, Doing: "impersonate a user", Reason: Forbidden,
				Err:  fmt.Errorf("the name %q is reserved by Kubernetes", name),
				Hint: "set impersonateUserPrefix and impersonateGroupPrefix of the cluster, or rename it at the identity provider"}
		}
	}
	return &Cluster{name: c.name, way: c.way, opts: c.opts, answered: c.answered, settings: c.settings, as: p, account: c.Account()}, nil
}

// Account returns the cluster with calls made by the account of its settings.
func (c *Cluster) Account() *Cluster {
	if c.account != nil {
		return c.account
	}
	return c
}

// identify sets the impersonation headers of a request.
func (p *person) identify(h http.Header) {
	if p == nil {
		return
	}
	h.Set("Impersonate-User", p.user)
	for _, g := range p.groups {
		h.Add("Impersonate-Group", g)
	}
}
