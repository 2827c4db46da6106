// Package contract is a test server that implements what this project relies on in
// the change request APIs of GitHub, GitLab and Gitea, for one repository in memory.
package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kinds of servers.
const (
	GitHub = "github"
	GitLab = "gitlab"
	Gitea  = "gitea"
)

// Entry is a change request.
type Entry struct {
	Number                      int
	Source, Target, Title, Body string
	Labels                      []string
	// Foreign says that it comes from a fork.
	Draft, Closed, Foreign bool
}

// Server answers calls about one repository. Its fields must be set before it is used
// and read afterwards; only Before may use them in between.
type Server struct {
	// Kind is one of the kinds above.
	Kind string
	// URL is the URL of the server, Repository is owner/name, and Token the accepted
	// token.
	URL, Repository, Token string
	// Same are branches without any difference to their target.
	Same map[string]bool
	// Before handles a call instead, if it returns true.
	Before func(w http.ResponseWriter, req *http.Request) bool
	// All are the change requests, sorted by number.
	All []*Entry

	mu    sync.Mutex
	calls []string
}

// Calls returns the calls so far, as method and path.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, req.Method+" "+req.URL.EscapedPath())
	if s.Before != nil && s.Before(w, req) {
		return
	}
	base := map[string]string{GitHub: "/api/v3", GitLab: "/api/v4", Gitea: "/api/v1"}[s.Kind]
	if s.Kind == GitHub {
		w.Header().Set("X-GitHub-Request-Id", "1:2:3")
	}
	at, ok := strings.CutPrefix(req.URL.EscapedPath(), base)
	if !ok {
		http.NotFound(w, req)
		return
	}
	if at == "/version" && s.Kind == Gitea {
		say(w, http.StatusOK, map[string]any{"version": "1.22.0"})
		return
	}
	if req.Header.Get("Authorization") != "Bearer "+s.Token {
		words := map[string]string{GitHub: "Bad credentials", GitLab: "401 Unauthorized", Gitea: "user does not exist [uid: 0, name: ]"}[s.Kind]
		// Like a careless server, repeat what was sent.
		say(w, http.StatusUnauthorized, map[string]any{"message": words, "error": req.Header.Get("Authorization")})
		return
	}
	if at == "/version" {
		say(w, http.StatusOK, map[string]any{"version": "17.0.0", "revision": "abc"})
		return
	}
	repo, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(at, "/repos/"), "/projects/"), "/")
	if s.Kind != GitLab {
		name, more, _ := strings.Cut(rest, "/")
		repo, rest = repo+"/"+name, more
	}
	if name, err := url.PathUnescape(repo); err != nil || name != s.Repository {
		say(w, http.StatusNotFound, map[string]any{"message": map[string]string{GitHub: "Not Found", GitLab: "404 Project Not Found", Gitea: "The target couldn't be found."}[s.Kind]})
		return
	}
	s.repo(w, req, strings.Split(rest, "/"))
}

// repo answers a call about the repository.
func (s *Server) repo(w http.ResponseWriter, req *http.Request, at []string) {
	var body map[string]any
	_ = json.NewDecoder(req.Body).Decode(&body) // Without a body there is nothing in it.
	list, edits := "pulls", http.MethodPatch
	if s.Kind == GitLab {
		list, edits = "merge_requests", http.MethodPut
	}
	var e *Entry
	if len(at) > 1 {
		if n, err := strconv.Atoi(at[1]); err == nil && n > 0 && n <= len(s.All) {
			e = s.All[n-1]
		}
	}
	switch {
	case at[0] == "" && req.Method == http.MethodGet:
		say(w, http.StatusOK, map[string]any{"default_branch": "trunk"})
	case len(at) == 1 && at[0] == list && req.Method == http.MethodGet:
		s.list(w, req.URL.Query())
	case len(at) == 1 && at[0] == list && req.Method == http.MethodPost:
		s.create(w, body)
	case e != nil && len(at) == 2 && at[0] == list && req.Method == edits:
		s.edit(w, e, body)
	case e != nil && len(at) == 3 && at[0] == "issues" && at[2] == "labels" && req.Method == http.MethodPost && s.Kind != GitLab:
		labels, _ := body["labels"].([]any)
		for _, l := range labels {
			e.Labels = append(e.Labels, fmt.Sprint(l))
		}
		say(w, http.StatusOK, []any{})
	default:
		say(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	}
}

// shown returns an entry in the format of its kind of server.
func (s *Server) shown(e *Entry) map[string]any {
	from := 1
	if e.Foreign {
		from = 2
	}
	if s.Kind == GitLab {
		return map[string]any{"iid": e.Number, "web_url": fmt.Sprintf("%s/%s/-/merge_requests/%d", s.URL, s.Repository, e.Number), "title": e.Title,
			"description": e.Body, "source_branch": e.Source, "target_branch": e.Target, "source_project_id": from, "target_project_id": 1}
	}
	return map[string]any{"number": e.Number, "html_url": fmt.Sprintf("%s/%s/pull/%d", s.URL, s.Repository, e.Number), "title": e.Title, "body": e.Body,
		"head": map[string]any{"ref": e.Source, "repo": map[string]any{"id": from}}, "base": map[string]any{"ref": e.Target, "repo": map[string]any{"id": 1}}}
}

// list lists the open requests.
func (s *Server) list(w http.ResponseWriter, q url.Values) {
	all := []any{}
	owner, _, _ := strings.Cut(s.Repository, "/")
	for _, e := range s.All {
		source, target := q.Get("source_branch"), q.Get("target_branch")
		if s.Kind == GitHub {
			source, target = strings.TrimPrefix(q.Get("head"), owner+":"), q.Get("base")
		}
		if e.Closed || s.Kind != Gitea && (e.Source != source || e.Target != target) {
			continue
		}
		all = append(all, s.shown(e))
	}
	if s.Kind == Gitea {
		// Gitea may list fewer per page than requested.
		const per = 2
		page, _ := strconv.Atoi(q.Get("page"))
		all = all[min(len(all), (max(page, 1)-1)*per):min(len(all), max(page, 1)*per)]
	}
	say(w, http.StatusOK, all)
}

// create opens a request, unless there already is one.
func (s *Server) create(w http.ResponseWriter, body map[string]any) {
	text := func(key string) string { v, _ := body[key].(string); return v }
	e := &Entry{Number: len(s.All) + 1, Title: text("title"), Source: text("head"), Target: text("base"), Body: text("body")}
	if s.Kind == GitLab {
		e.Source, e.Target, e.Body = text("source_branch"), text("target_branch"), text("description")
	}
	e.Draft, _ = body["draft"].(bool)
	for _, o := range s.All {
		if o.Closed || o.Foreign || o.Source != e.Source || o.Target != e.Target {
			continue
		}
		switch s.Kind {
		case GitHub:
			say(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "errors": []any{map[string]any{"resource": "PullRequest", "code": "custom",
				"message": "A pull request already exists for " + e.Source + "."}}})
		case GitLab:
			say(w, http.StatusConflict, map[string]any{"message": []any{"Another open merge request already exists for this source branch: !" + strconv.Itoa(o.Number)}})
		default:
			say(w, http.StatusConflict, map[string]any{"message": "pull request already exists for these targets [id: 1, issue_id: 1]"})
		}
		return
	}
	if s.Same[e.Source] {
		say(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "errors": []any{map[string]any{"message": "No commits between " + e.Target + " and " + e.Source}}})
		return
	}
	s.All = append(s.All, e)
	say(w, http.StatusCreated, s.shown(e))
}

// edit changes a request.
func (s *Server) edit(w http.ResponseWriter, e *Entry, body map[string]any) {
	if text, ok := body["title"].(string); ok {
		e.Title = text
	}
	for _, key := range []string{"body", "description"} {
		if text, ok := body[key].(string); ok {
			e.Body = text
		}
	}
	if text, ok := body["add_labels"].(string); ok {
		e.Labels = append(e.Labels, strings.Split(text, ",")...)
	}
	say(w, http.StatusOK, s.shown(e))
}

// say answers with JSON.
func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // The client may be gone.
}
