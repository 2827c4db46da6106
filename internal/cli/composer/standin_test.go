package composer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd/selector"
)

// secret is the token of every cluster of the tests.
const secret = "s3cr3t-t0k3n"

const group = "apiextensions.crossplane.io"

// object is an object of the server.
type object = map[string]any

// standIn is an API server for the requests of this command. It has definitions,
// Compositions, and the kinds of the definitions.
type standIn struct {
	URL string

	mu sync.Mutex
	// definitions and compositions are its objects, others the rest by path.
	definitions, compositions []object
	others                    map[string][]object
	// refuse are the status codes below paths.
	refuse map[string]int
	// forbidden are the missing permissions, as "verb resource".
	forbidden []string
	// asked are the requests it got, with their selectors.
	asked []string
}

func newStandIn(t *testing.T, definitions ...object) *standIn {
	t.Helper()
	s := &standIn{definitions: definitions, refuse: map[string]int{}, others: map[string][]object{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+q.Get("labelSelector")+q.Get("fieldSelector")))
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") != "Bearer "+secret {
		fail(w, http.StatusUnauthorized)
		return
	}
	for path, code := range s.refuse {
		if strings.HasPrefix(r.URL.Path, path) {
			fail(w, code)
			return
		}
	}
	const api = "/apis/" + group
	switch path := r.URL.Path; path {
	case api:
		answer(w, object{"kind": "APIGroup", "versions": []object{{"version": "v1"}}})
	case api + "/v1":
		answer(w, object{"kind": "APIResourceList", "resources": []object{{"name": "compositeresourcedefinitions"}, {"name": "compositions"}}})
	case api + "/v1/compositeresourcedefinitions":
		list(w, s.definitions, q.Get("labelSelector"), q.Get("fieldSelector"))
	case api + "/v1/compositions":
		list(w, s.compositions, "", "")
	case "/version":
		answer(w, object{"gitVersion": "v1.99.0"})
	case "/apis/authentication.k8s.io/v1/selfsubjectreviews":
		answer(w, object{"status": object{"userInfo": object{"username": "reader"}}})
	case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Resource string }
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		a := review.Spec.ResourceAttributes
		answer(w, object{"status": object{"allowed": !slices.Contains(s.forbidden, a.Verb+" "+a.Resource)}})
	default:
		items, ok := s.others[path]
		if !ok {
			fail(w, http.StatusNotFound)
			return
		}
		list(w, items, "", "")
	}
}

func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func fail(w http.ResponseWriter, code int) {
	w.WriteHeader(code)
	answer(w, object{"kind": "Status", "code": code, "message": http.StatusText(code)})
}

// list responds with the items that match the selectors.
func list(w http.ResponseWriter, items []object, labels, field string) {
	wanted, err := selector.Parse(labels)
	if err != nil {
		fail(w, http.StatusBadRequest)
		return
	}
	name := strings.TrimPrefix(field, "metadata.name=")
	chosen := []object{}
	for _, o := range items {
		meta := o["metadata"].(object)
		of, _ := meta["labels"].(map[string]string)
		if (name == "" || meta["name"] == name) && wanted.Matches(words.KeysIn(of)) {
			chosen = append(chosen, o)
		}
	}
	answer(w, object{"kind": "List", "metadata": object{}, "items": chosen})
}

// calls returns the requests it got and clears them.
func (s *standIn) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// definition returns a valid definition that the service selects, with more
// labels.
func definition(name string, labels ...string) object {
	plural, in, _ := strings.Cut(name, ".")
	kind := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
	all := map[string]string{"openportal.dev/ingest": "true"}
	for _, l := range labels {
		key, value, _ := strings.Cut(l, "=")
		all[key] = value
	}
	version := func(name string, referenceable bool) object {
		return object{"name": name, "served": true, "referenceable": referenceable, "schema": object{"openAPIV3Schema": object{
			"type": "object", "description": "A " + kind + ".", "properties": object{"spec": object{
				"type": "object", "properties": object{"size": object{"type": "string", "description": "How large it is."}},
			}},
		}}}
	}
	return object{
		"apiVersion": group + "/v1", "kind": "CompositeResourceDefinition",
		"metadata": object{"name": name, "labels": all, "generation": 1},
		"spec": object{
			"group": in, "names": object{"kind": kind, "plural": plural}, "scope": "Namespaced",
			"versions": []object{version("v1alpha1", false), version("v1", true)},
		},
	}
}

// unlabelled returns a definition that the service does not select.
func unlabelled(name string) object { return definition(name, "openportal.dev/ingest=false") }

// configure writes a configuration of clusters, called a, b and so on, with more
// keys of composerIngestor.
func configure(t *testing.T, more string, clusters ...*standIn) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("composerIngestor:\n  clusters:\n")
	for i, c := range clusters {
		fmt.Fprintf(&b, "    - name: %c\n      url: %s\n      serviceAccountToken: %s\n", 'a'+i, c.URL, secret)
	}
	for line := range strings.Lines(more) {
		b.WriteString("  " + line)
	}
	return write(t, "app-config.yaml", b.String())
}

// write writes a file in its own directory and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs the command in its own environment, and checks that the token is
// never shown.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runIn(t, &app.Env{Args: args})
}

func runIn(t *testing.T, env *app.Env) (stdout, stderr string, code int) {
	t.Helper()
	var out, notes bytes.Buffer
	env.Stdout, env.Stderr, env.Now = &out, &notes, time.Now
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	code = app.Run(t.Context(), Name, env, Run)
	if strings.Contains(out.String()+notes.String(), secret) {
		t.Errorf("output of %q contains a secret:\n%s%s", env.Args, out.String(), notes.String())
	}
	return out.String(), notes.String(), code
}
