package backstage_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/test/gitserver"
)

// forge is a Git server with a real repository, acme/live, and as much of the APIs of
// GitHub, GitLab and Bitbucket Server as the actions of Backstage use. What these write is
// written to the repository with git.
type forge struct {
	t    *testing.T
	addr string
	dir  string
	// opened are the change requests, as "source to target: title".
	opened []string
}

// startForge starts a Git server. Its repository has one file on the branch main.
func startForge(t *testing.T) *forge {
	t.Helper()
	gitserver.Need(t)
	root := t.TempDir()
	f := &forge{t: t, dir: filepath.Join(root, "acme", "live.git")}
	if err := os.MkdirAll(filepath.Dir(f.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", "-b", "main", f.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tree := f.tree("", map[string]string{"README.md": f.git("resources of the company\n", "hash-object", "-w", "--stdin")})
	f.git("", "update-ref", "refs/heads/main", f.git("first\n", "commit-tree", tree))
	mux := http.NewServeMux()
	f.github(mux)
	f.gitlab(mux)
	f.bitbucket(mux)
	mux.Handle("/scm/", http.StripPrefix("/scm", gitserver.Handler(t, root)))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the Git server does not know %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	f.addr = srv.Listener.Addr().String()
	return f
}

// integrations returns the server as Backstage's configuration has it, once for each kind:
// a host has one kind only, so the port is the same and the name differs.
func (f *forge) integrations() object {
	base := "http://" + f.addr
	return object{
		"github":          []object{{"host": f.host("github"), "apiBaseUrl": base + "/api/v3", "token": "a"}},
		"gitlab":          []object{{"host": f.host("gitlab"), "apiBaseUrl": base + "/api/v4", "baseUrl": base, "token": "a"}},
		"bitbucketServer": []object{{"host": f.host("bitbucketServer"), "apiBaseUrl": base + "/rest/api/1.0", "token": "a"}},
	}
}

// host returns the name of the server for a kind; all are this machine.
func (f *forge) host(kind string) string {
	_, port, _ := strings.Cut(f.addr, ":")
	return map[string]string{"github": "127.0.0.2:", "gitlab": "127.0.0.3:", "bitbucketServer": "127.0.0.1:"}[kind] + port
}

// git runs git in the repository and returns what it prints.
func (f *forge) git(in string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = f.dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_INDEX_FILE="+filepath.Join(f.dir, "api-index"))
	out, err := cmd.Output()
	if err != nil {
		f.t.Errorf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// tree adds files, given by their blobs, to a tree and returns the new one.
func (f *forge) tree(base string, files map[string]string) string {
	f.t.Helper()
	f.git("", "read-tree", "--empty")
	if base != "" {
		f.git("", "read-tree", base)
	}
	for path, blob := range files {
		f.git("", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
	}
	return f.git("", "write-tree")
}

// answer adds a route. Its function gets the body of the request.
func (f *forge) answer(mux *http.ServeMux, route string, status int, do func(r *http.Request, body object) any) {
	mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		var body object
		_ = json.NewDecoder(r.Body).Decode(&body) // A request to read has none.
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(do(r, body)) // The client is gone.
	})
}

func (f *forge) open(source, target, title string) {
	f.opened = append(f.opened, fmt.Sprintf("%s to %s: %s", source, target, title))
}

func (f *forge) blob(content string, encoding any) string {
	if encoding == "base64" {
		data, err := base64.StdEncoding.DecodeString(content)
		if err != nil {
			f.t.Error(err)
		}
		content = string(data)
	}
	return f.git(content, "hash-object", "-w", "--stdin")
}

func (f *forge) github(mux *http.ServeMux) {
	const repo = "/api/v3/repos/acme/live"
	f.answer(mux, "GET "+repo, http.StatusOK, func(*http.Request, object) any {
		return object{"default_branch": "main", "permissions": object{"push": true}}
	})
	f.answer(mux, "GET "+repo+"/commits", http.StatusOK, func(r *http.Request, _ object) any {
		at := r.FormValue("sha")
		return []object{{"sha": f.git("", "rev-parse", at), "commit": object{"tree": object{"sha": f.git("", "rev-parse", at+"^{tree}")}}}}
	})
	f.answer(mux, "POST "+repo+"/git/blobs", http.StatusCreated, func(_ *http.Request, b object) any {
		return object{"sha": f.blob(b["content"].(string), b["encoding"])}
	})
	f.answer(mux, "POST "+repo+"/git/trees", http.StatusCreated, func(_ *http.Request, b object) any {
		files := map[string]string{}
		for _, it := range b["tree"].([]any) {
			file := it.(object)
			files[file["path"].(string)] = file["sha"].(string)
		}
		return object{"sha": f.tree(b["base_tree"].(string), files)}
	})
	f.answer(mux, "POST "+repo+"/git/commits", http.StatusCreated, func(_ *http.Request, b object) any {
		return object{"sha": f.git(b["message"].(string), "commit-tree", b["tree"].(string), "-p", b["parents"].([]any)[0].(string))}
	})
	f.answer(mux, "POST /api/graphql", http.StatusOK, func(*http.Request, object) any {
		return object{"data": object{"repository": object{"ref": nil}}}
	})
	f.answer(mux, "POST "+repo+"/git/refs", http.StatusCreated, func(_ *http.Request, b object) any {
		f.git("", "update-ref", b["ref"].(string), b["sha"].(string))
		return object{}
	})
	f.answer(mux, "POST "+repo+"/pulls", http.StatusCreated, func(_ *http.Request, b object) any {
		_, source, _ := strings.Cut(b["head"].(string), ":")
		f.open(source, b["base"].(string), b["title"].(string))
		return object{"number": 1, "html_url": "https://example.org/pull/1", "base": object{"ref": b["base"]}}
	})
}

func (f *forge) gitlab(mux *http.ServeMux) {
	const repo = "/api/v4/projects/{id}"
	f.answer(mux, "GET "+repo+"/repository/tree", http.StatusOK, func(*http.Request, object) any { return []object{} })
	f.answer(mux, "GET "+repo+"/repository/branches/{name}", http.StatusNotFound, func(*http.Request, object) any {
		return object{"message": "404 Branch Not Found"}
	})
	f.answer(mux, "POST "+repo+"/repository/branches", http.StatusCreated, func(r *http.Request, b object) any {
		name, from := value(r, b, "branch"), value(r, b, "ref")
		f.git("", "update-ref", "refs/heads/"+name, f.git("", "rev-parse", from))
		return object{"name": name}
	})
	f.answer(mux, "POST "+repo+"/repository/commits", http.StatusCreated, func(r *http.Request, b object) any {
		name, files := value(r, b, "branch"), map[string]string{}
		for _, it := range b["actions"].([]any) {
			file := it.(object)
			files[file["file_path"].(string)] = f.blob(file["content"].(string), file["encoding"])
		}
		commit := f.git(value(r, b, "commit_message"), "commit-tree", f.tree(name, files), "-p", name)
		f.git("", "update-ref", "refs/heads/"+name, commit)
		return object{"id": commit}
	})
	f.answer(mux, "POST "+repo+"/merge_requests", http.StatusCreated, func(r *http.Request, b object) any {
		f.open(value(r, b, "source_branch"), value(r, b, "target_branch"), value(r, b, "title"))
		return object{"iid": 1, "web_url": "https://example.org/merge_requests/1"}
	})
}

// value returns a value of the body, or of the query.
func value(r *http.Request, body object, key string) string {
	if s, ok := body[key].(string); ok {
		return s
	}
	return r.URL.Query().Get(key)
}

func (f *forge) bitbucket(mux *http.ServeMux) {
	const repo = "/rest/api/1.0/projects/acme/repos/live"
	branch := func(name string) object {
		return object{"id": "refs/heads/" + name, "displayId": name, "latestCommit": f.git("", "rev-parse", name)}
	}
	f.answer(mux, "GET "+repo+"/branches", http.StatusOK, func(r *http.Request, _ object) any {
		all := []object{}
		for name := range strings.FieldsSeq(f.git("", "for-each-ref", "--format=%(refname:short)", "refs/heads")) {
			if strings.Contains(name, r.FormValue("filterText")) {
				all = append(all, branch(name))
			}
		}
		return object{"values": all}
	})
	f.answer(mux, "POST "+repo+"/branches", http.StatusOK, func(_ *http.Request, b object) any {
		f.git("", "update-ref", "refs/heads/"+b["name"].(string), b["startPoint"].(string))
		return branch(b["name"].(string))
	})
	f.answer(mux, "POST "+repo+"/pull-requests", http.StatusCreated, func(_ *http.Request, b object) any {
		name := func(key string) string { return b[key].(object)["displayId"].(string) }
		f.open(name("fromRef"), name("toRef"), b["title"].(string))
		return object{"links": object{"self": []object{{"href": "https://example.org/pull-requests/1"}}}}
	})
}

// repoURL returns the repository as the form of Backstage sends it.
func (f *forge) repoURL(kind string) string {
	owner := "owner"
	if kind == "bitbucketServer" {
		owner = "project"
	}
	return f.host(kind) + "?" + url.Values{owner: {"acme"}, "repo": {"live"}}.Encode()
}
