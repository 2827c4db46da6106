package forge

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// gitlab is GitLab.
type gitlab struct {
	*client
	api string
}

// merge is a merge request.
type merge struct {
	Number int64  `json:"iid"`
	URL    string `json:"web_url"`
	Title  string `json:"title"`
	Body   string `json:"description"`
	Source string `json:"source_branch"`
	Target string `json:"target_branch"`
	From   int64  `json:"source_project_id"`
	To     int64  `json:"target_project_id"`
}

func (m merge) found() *found {
	return &found{number: m.Number, url: m.URL, title: m.Title, body: m.Body}
}

func (g gitlab) check(repository string) error {
	parts := strings.Split(repository, "/")
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || len(parts) < 2 {
			return wrong(ErrNotFound, "write group/name", "invalid repository name %q", repository)
		}
	}
	return nil
}

// at returns the API URL of a part of the repository.
func (g gitlab) at(repository string, more ...string) string {
	at := g.api + "/projects/" + url.PathEscape(repository)
	for _, part := range more {
		at += "/" + part
	}
	return at
}

func (g gitlab) target(ctx context.Context, repository string) (string, error) {
	return g.first(ctx, g.at(repository))
}

func (g gitlab) find(ctx context.Context, r Request) (*found, error) {
	q := url.Values{"state": {"opened"}, "source_branch": {r.Source}, "target_branch": {r.Target}}
	var all []merge
	if err := g.call(ctx, http.MethodGet, g.at(r.Repository, "merge_requests")+"?"+q.Encode(), nil, &all); err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Source == r.Source && m.Target == r.Target && m.From == m.To {
			return m.found(), nil
		}
	}
	return nil, nil
}

func (g gitlab) create(ctx context.Context, r Request) (*found, error) {
	body := map[string]any{"title": r.Title, "description": r.Body, "source_branch": r.Source, "target_branch": r.Target}
	var made merge
	if err := g.call(ctx, http.MethodPost, g.at(r.Repository, "merge_requests"), body, &made); err != nil {
		return nil, err
	}
	return made.found(), nil
}

func (g gitlab) update(ctx context.Context, r Request, number int64) error {
	return g.put(ctx, r, number, map[string]any{"title": r.Title, "description": r.Body})
}

func (g gitlab) label(ctx context.Context, r Request, number int64) error {
	return g.put(ctx, r, number, map[string]any{"add_labels": strings.Join(r.Labels, ",")})
}

func (g gitlab) put(ctx context.Context, r Request, number int64, body map[string]any) error {
	return g.call(ctx, http.MethodPut, g.at(r.Repository, "merge_requests", strconv.FormatInt(number, 10)), body, nil)
}

func (g gitlab) draft(title string) string { return prefixed("Draft: ", title) }
