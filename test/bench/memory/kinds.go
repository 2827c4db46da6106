package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// offered is the number of kinds of composites that the cluster serves,
	// inhabited the number of kinds with a composite.
	offered, inhabited = 10_000, 100
	wantedKinds        = 400
)

// kinds measures a cluster that serves many kinds of composites. It is a
// stand-in: a real API server needs an hour and tens of gigabytes for so many.
func kinds(w io.Writer, tmp string) error {
	s := &standIn{}
	server := httptest.NewServer(s)
	defer server.Close()
	defer server.CloseClientConnections()
	kubeconfig := filepath.Join(tmp, "kinds.kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {token: stand-in}}]\n"+
		"contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		return err
	}
	p, err := prepare(tmp, fmt.Sprintf("  clusters: [{ name: many, kubeconfig: %q }]", kubeconfig))
	if err != nil {
		return err
	}
	for _, when := range []string{"at first", "when it is started again"} {
		s.lists.Store(0)
		s.bodies.Store(0)
		watches := int64(0)
		mb, err := p.run(func() (bool, error) {
			watches = s.watches.Load()
			return p.settled(1)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "portal-backend: %d MB at most for %d kinds of composites, %s, with %d watches at the end, %d lists and %d definitions read whole (wanted: at most %d MB)\n",
			mb, offered, when, watches, s.lists.Load(), s.bodies.Load(), wantedKinds)
	}
	return nil
}

// standIn responds like an API server with many definitions.
type standIn struct{ watches, lists, bodies atomic.Int64 }

const (
	crossplane = "apiextensions.crossplane.io"
	platform   = "platform.example.org"
)

// ServeHTTP responds to the requests of a portal.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path := strings.Trim(r.URL.Path, "/")
	switch {
	case path == "apis" && strings.Contains(r.Header.Get("Accept"), "APIGroupDiscoveryList"):
		s.discovery(w)
	case path == "apis":
		_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case path == "apis/"+crossplane:
		_, _ = io.WriteString(w, `{"kind":"APIGroup","apiVersion":"v1","name":"`+crossplane+`","versions":[{"groupVersion":"`+crossplane+`/v2","version":"v2"}]}`)
	case path == "apis/"+crossplane+"/v2":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"`+crossplane+`/v2","resources":[{"name":"compositeresourcedefinitions","verbs":["create","get","list","watch"]}]}`)
	case r.URL.Query().Get("watch") == "true":
		s.watches.Add(1)
		defer s.watches.Add(-1)
		w.(http.Flusher).Flush() //nolint:forcetypeassert // It is net/http's own.
		<-r.Context().Done()
	case path == "apis/"+crossplane+"/v2/compositeresourcedefinitions":
		s.list(w, r, offered, func(i int, metadata bool) string {
			if !metadata {
				s.bodies.Add(1)
			}
			return definition(i, metadata)
		})
	case strings.HasPrefix(path, "apis/"+platform+"/v1/things"):
		i, err := strconv.Atoi(strings.TrimPrefix(path, "apis/"+platform+"/v1/things"))
		if err != nil || i >= offered {
			http.NotFound(w, r)
			return
		}
		s.lists.Add(1)
		n := 0
		if i%(offered/inhabited) == 0 {
			n = 1
		}
		s.list(w, r, n, func(int, bool) string { return thing(i) })
	case strings.HasSuffix(path, "/one"):
		var i int
		if _, err := fmt.Sscanf(path, "apis/"+platform+"/v1/namespaces/default/things%d/one", &i); err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, thing(i))
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

// thing returns the composite of the i-th kind.
func thing(i int) string {
	return fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"Thing%[2]d","metadata":{"name":"one","namespace":"default","uid":"u-%[2]d","resourceVersion":"7"},"spec":{"size":1}}`, platform, i)
}

// list responds with one page of objects.
func (s *standIn) list(w io.Writer, r *http.Request, n int, object func(i int, metadata bool) string) {
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("continue")) // Without a token the list begins at zero.
	to := n
	if limit, err := strconv.Atoi(q.Get("limit")); err == nil && limit > 0 {
		to = min(n, from+limit)
	}
	next := ""
	if to < n {
		next = strconv.Itoa(to)
	}
	_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1000","continue":%q},"items":[`, next)
	for i := from; i < to; i++ {
		if i > from {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = io.WriteString(w, object(i, strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")))
	}
	_, _ = io.WriteString(w, "]}")
}

// definition returns the i-th definition, or its metadata.
func definition(i int, metadata bool) string {
	head := fmt.Sprintf(`"metadata":{"name":"things%d.%s","uid":"d-%[1]d","resourceVersion":"7","generation":1,"creationTimestamp":%[3]q,"labels":{"openportal.dev/ingest":"true"}}`,
		i, platform, time.Unix(1_700_000_000, 0).UTC().Format(time.RFC3339))
	if metadata {
		return `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",` + head + `}`
	}
	return fmt.Sprintf(`{"apiVersion":"%s/v2","kind":"CompositeResourceDefinition",%s,"spec":{"group":%q,"scope":"Namespaced","names":{"kind":"Thing%[4]d","plural":"things%[4]d"},`+
		`"versions":[{"name":"v1","served":true,"referenceable":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{`+
		`"size":{"type":"integer","description":"How many there are."},"region":{"type":"string","enum":["eu","us"]}}}}}}}]}}`, crossplane, head, platform, i)
}

// discovery responds with all served kinds.
func (s *standIn) discovery(w io.Writer) {
	type resource struct {
		Resource string   `json:"resource"`
		Verbs    []string `json:"verbs"`
		Scope    string   `json:"scope"`
	}
	all := make([]resource, offered)
	for i := range all {
		all[i] = resource{fmt.Sprint("things", i), []string{"create", "delete", "get", "list", "patch", "update", "watch"}, "Namespaced"}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
		"items": []any{map[string]any{"metadata": map[string]any{"name": platform}, "versions": []any{map[string]any{"version": "v1", "resources": all}}}},
	})
}
