package fleet

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bookmarks is how often an API server sends bookmarks.
const bookmarks = time.Minute

// mostEvents is how many events a watch has not sent yet at most.
const mostEvents = 4096

// change is the last change of a definition.
type change struct {
	version int64
	title   string
}

// watch is a stream of events of the definitions.
type watch struct{ events chan string }

// Cluster is a stand-in for the API server of a cluster.
type Cluster struct {
	// Name is the name in the configuration.
	Name string
	// Lists, Bodies and Watches count the requests since the start, and Open the watches
	// that are open.
	Lists, Bodies, Watches, Open atomic.Int64

	fleet *Fleet
	own   []definition
	// plurals are the indexes of the own definitions by their plural.
	plurals map[string]int
	address string
	config  *tls.Config
	server  *http.Server

	mu      sync.Mutex
	version int64
	changed map[int]change
	watches map[*watch]bool
}

// Up starts the cluster, at the same address as before.
func (c *Cluster) Up() error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", c.address)
	if err != nil {
		return fmt.Errorf("cannot start cluster %s: %w", c.Name, err)
	}
	c.address = listener.Addr().String()
	c.server = &http.Server{Handler: c, TLSConfig: c.config, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	go func() { _ = c.server.ServeTLS(listener, "", "") }() // It ends with Down.
	return nil
}

// URL returns the address of the cluster.
func (c *Cluster) URL() string { return "https://" + c.address }

// Down closes all connections and refuses new ones.
func (c *Cluster) Down() error { return c.server.Close() }

// Change gives a definition a title. The common definitions are the first ones.
func (c *Cluster) Change(i int, title string) (name string) {
	d := c.definition(i)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.changed[i] = change{c.version, title}
	event := `{"type":"MODIFIED","object":` + d.text(c.changed[i], true) + "}\n"
	for w := range c.watches {
		w.events <- event
	}
	return d.name()
}

// size returns the number of definitions.
func (c *Cluster) size() int { return len(c.fleet.common) + len(c.own) }

// definition returns the definition with an index.
func (c *Cluster) definition(i int) *definition {
	if i < len(c.fleet.common) {
		return &c.fleet.common[i]
	}
	return &c.own[i-len(c.fleet.common)]
}

// change returns the last change of a definition.
func (c *Cluster) change(i int) change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed[i]
}

// ServeHTTP responds to the requests of a portal.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	const definitions = "apis/" + crossplane + "/v2/compositeresourcedefinitions"
	path := strings.Trim(r.URL.Path, "/")
	metadata := strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")
	rest, group := strings.CutPrefix(path, "apis/"+platform+"/v1/")
	switch {
	case path == "apis" && strings.Contains(r.Header.Get("Accept"), "APIGroupDiscoveryList"):
		c.discovery(w)
	case path == "apis":
		_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case path == "apis/"+crossplane:
		_, _ = io.WriteString(w, `{"kind":"APIGroup","apiVersion":"v1","name":"`+crossplane+`","versions":[{"groupVersion":"`+crossplane+`/v2","version":"v2"}]}`)
	case path == "apis/"+crossplane+"/v2":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"`+crossplane+`/v2","resources":[{"name":"compositeresourcedefinitions","verbs":["create","get","list","watch"]}]}`)
	case r.URL.Query().Get("watch") == "true":
		c.watch(w, r, path == definitions)
	case path == definitions:
		c.list(w, r, c.size(), func(i int) string { return c.definition(i).text(c.change(i), metadata) })
	case strings.HasPrefix(path, definitions+"/"):
		c.one(w, strings.TrimPrefix(path, definitions+"/"))
	case group && strings.HasSuffix(rest, "/one"):
		c.composites(w, r, strings.TrimSuffix(strings.TrimPrefix(rest, "namespaces/default/"), "/one"), true)
	case group:
		c.composites(w, r, rest, false)
	default:
		notFound(w, "")
	}
}

// notFound responds that an object does not exist, or a path if the name is empty.
func notFound(w http.ResponseWriter, name string) {
	w.WriteHeader(http.StatusNotFound)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":%q}}`, name)
}

// index returns the index of the definition of a plural; -1 if there is none.
func (c *Cluster) index(plural string) int {
	if i, ok := c.fleet.plurals[plural]; ok {
		return i
	}
	if i, ok := c.plurals[plural]; ok {
		return i
	}
	return -1
}

// one responds with one definition.
func (c *Cluster) one(w http.ResponseWriter, name string) {
	c.Bodies.Add(1)
	plural, _, _ := strings.Cut(name, ".")
	if i := c.index(plural); i >= 0 {
		_, _ = io.WriteString(w, c.definition(i).text(c.change(i), false))
		return
	}
	notFound(w, name)
}

// composites responds with the composites of a kind, or with the only one.
func (c *Cluster) composites(w http.ResponseWriter, r *http.Request, plural string, one bool) {
	i := c.index(plural)
	if i < 0 || i >= c.fleet.options.Kinds {
		notFound(w, "")
		return
	}
	if one {
		_, _ = io.WriteString(w, c.definition(i).composite())
		return
	}
	n := 0
	if i < c.fleet.options.Composites {
		n = 1
	}
	c.list(w, r, n, func(int) string { return c.definition(i).composite() })
}

// list responds with one page of objects.
func (c *Cluster) list(w io.Writer, r *http.Request, n int, object func(i int) string) {
	c.Lists.Add(1)
	c.mu.Lock()
	version := c.version
	c.mu.Unlock()
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
	_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"%d","continue":%q},"items":[`, version, next)
	for i := from; i < to; i++ {
		if i > from {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = io.WriteString(w, object(i))
	}
	_, _ = io.WriteString(w, "]}")
}

// watch sends changes of definitions, and bookmarks, until the client or the cluster
// ends the stream.
func (c *Cluster) watch(w http.ResponseWriter, r *http.Request, definitions bool) {
	c.Watches.Add(1)
	c.Open.Add(1)
	defer c.Open.Add(-1)
	own := &watch{events: make(chan string, mostEvents)}
	if definitions {
		from, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
		c.mu.Lock()
		for i, at := range c.changed {
			if at.version > from {
				own.events <- `{"type":"MODIFIED","object":` + c.definition(i).text(at, true) + "}\n"
			}
		}
		c.watches[own] = true
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.watches, own)
		}()
	}
	control := http.NewResponseController(w)
	tick := time.NewTicker(bookmarks)
	defer tick.Stop()
	for err := control.Flush(); err == nil; err = errors.Join(err, control.Flush()) {
		select {
		case event := <-own.events:
			_, err = io.WriteString(w, event)
		case <-tick.C:
			c.mu.Lock()
			version := c.version
			c.mu.Unlock()
			_, err = fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%d"}}}`+"\n", version)
		case <-r.Context().Done():
			return
		}
	}
}

// discovery responds with all served kinds.
func (c *Cluster) discovery(w io.Writer) {
	type resource struct {
		Resource string   `json:"resource"`
		Verbs    []string `json:"verbs"`
		Scope    string   `json:"scope"`
	}
	all := []resource{}
	for i := range c.fleet.options.Kinds {
		all = append(all, resource{c.definition(i).plural, []string{"create", "delete", "get", "list", "patch", "update", "watch"}, "Namespaced"})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
		"items": []any{map[string]any{"metadata": map[string]any{"name": platform}, "versions": []any{map[string]any{"version": "v1", "resources": all}}}},
	})
}
