package forge

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// pulls implements pull requests as GitHub defined them and Gitea adopted them.
type pulls struct {
	*client
	api string
}

// pull is a pull request.
type pull struct {
	Number int64  `json:"number"`
	URL    string `json:"html_url"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Head   end    `json:"head"`
	Base   end    `json:"base"`
}

// end is one of the two branches of a pull request.
type end struct {
	Ref  string `json:"ref"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"`
}

func (p pull) found() *found {
	return &found{number: p.Number, url: p.URL, title: p.Title, body: p.Body}
}

// is reports whether a pull request is for the branches of r, both in the same
// repository.
func (p pull) is(r Request) bool {
	return p.Head.Ref == r.Source && p.Base.Ref == r.Target &&
		(p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID == p.Base.Repo.ID)
}

func (p pulls) check(repository string) error {
	owner, name, _ := strings.Cut(repository, "/")
	for _, part := range []string{owner, name} {
		if part == "" || part == "." || part == ".." || strings.Contains(part, "/") {
			return wrong(ErrNotFound, "write owner/name", "invalid repository name %q", repository)
		}
	}
	return nil
}

// at returns the API URL of a part of the repository.
func (p pulls) at(repository string, more ...string) string {
	at := p.api + "/repos"
	for _, part := range append(strings.Split(repository, "/"), more...) {
		at += "/" + url.PathEscape(part)
	}
	return at
}

func (p pulls) target(ctx context.Context, repository string) (string, error) {
	return p.first(ctx, p.at(repository))
}

// create opens a pull request; more are additional fields of the request.
func (p pulls) create(ctx context.Context, r Request, more map[string]any) (*found, error) {
	body := map[string]any{"title": r.Title, "body": r.Body, "head": r.Source, "base": r.Target}
	for k, v := range more {
		body[k] = v
	}
	var made pull
	if err := p.call(ctx, http.MethodPost, p.at(r.Repository, "pulls"), body, &made); err != nil {
		return nil, err
	}
	return made.found(), nil
}

func (p pulls) update(ctx context.Context, r Request, number int64) error {
	return p.call(ctx, http.MethodPatch, p.at(r.Repository, "pulls", strconv.FormatInt(number, 10)),
		map[string]any{"title": r.Title, "body": r.Body}, nil)
}

func (p pulls) label(ctx context.Context, r Request, number int64) error {
	return p.call(ctx, http.MethodPost, p.at(r.Repository, "issues", strconv.FormatInt(number, 10), "labels"),
		map[string]any{"labels": r.Labels}, nil)
}

// github is GitHub, github.com or GitHub Enterprise.
type github struct{ pulls }

func (g github) find(ctx context.Context, r Request) (*found, error) {
	owner, _, _ := strings.Cut(r.Repository, "/")
	q := url.Values{"state": {"open"}, "head": {owner + ":" + r.Source}, "base": {r.Target}}
	var all []pull
	if err := g.call(ctx, http.MethodGet, g.at(r.Repository, "pulls")+"?"+q.Encode(), nil, &all); err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.is(r) {
			return p.found(), nil
		}
	}
	return nil, nil
}

func (g github) create(ctx context.Context, r Request) (*found, error) {
	return g.pulls.create(ctx, r, map[string]any{"draft": r.Draft})
}

func (g github) draft(title string) string { return title }

// gitea is Gitea or Forgejo.
type gitea struct{ pulls }

const (
	// perPage is how many pull requests are listed per page.
	perPage = 50
	// maxPages is the maximum number of pages to read.
	maxPages = 100
)

// find lists the open pull requests, because the API cannot filter by both branches
// and state.
func (g gitea) find(ctx context.Context, r Request) (*found, error) {
	for page := 1; page <= maxPages; page++ {
		q := url.Values{"state": {"open"}, "sort": {"recentupdate"}, "base_branch": {r.Target},
			"limit": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}}
		var all []pull
		if err := g.call(ctx, http.MethodGet, g.at(r.Repository, "pulls")+"?"+q.Encode(), nil, &all); err != nil {
			return nil, err
		}
		for _, p := range all {
			if p.is(r) {
				return p.found(), nil
			}
		}
		// A server may list fewer per page than requested.
		if len(all) == 0 {
			break
		}
	}
	return nil, nil
}

func (g gitea) create(ctx context.Context, r Request) (*found, error) {
	return g.pulls.create(ctx, r, nil)
}

func (g gitea) draft(title string) string { return prefixed("WIP: ", title) }

// prefixed adds a prefix to a title, unless it already has it.
func prefixed(prefix, title string) string {
	if strings.HasPrefix(title, prefix) {
		return title
	}
	return prefix + title
}
