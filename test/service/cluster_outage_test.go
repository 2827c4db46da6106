package service_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/test/apiserver"
)

// line is a proxy to an API server. When it is cut, connections are refused
// although the server still runs.
type line struct {
	t      *testing.T
	server *apiserver.Server
	at     string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
}

func newLine(t *testing.T, c *apiserver.Server) *line {
	t.Helper()
	l := &line{t: t, server: c, at: "127.0.0.1:0", open: map[net.Conn]bool{}}
	l.reconnect()
	t.Cleanup(l.cut)
	return l
}

// reconnect accepts connections again.
func (l *line) reconnect() {
	l.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(l.t.Context(), "tcp", l.at)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.listener, l.at = listener, listener.Addr().String()
	l.mu.Unlock()
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(from)
		}
	}()
}

// carry copies data between both ends of one connection.
func (l *line) carry(from net.Conn) {
	to, err := (&net.Dialer{}).Dial("tcp", strings.TrimPrefix(l.server.URL, "https://"))
	if err != nil {
		_ = from.Close()
		return
	}
	l.mu.Lock()
	l.open[from], l.open[to] = true, true
	l.mu.Unlock()
	var both sync.WaitGroup
	for a, b := range map[net.Conn]net.Conn{from: to, to: from} {
		both.Go(func() {
			_, _ = io.Copy(a, b)
			_ = a.Close()
		})
	}
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, from)
	delete(l.open, to)
}

// cut closes all connections and refuses new ones.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for c := range l.open {
		_ = c.Close()
	}
}

// cluster returns the configuration of the API server behind the line.
func (l *line) cluster(name string) sections {
	l.t.Helper()
	data, err := os.ReadFile(l.server.Kubeconfig)
	if err != nil {
		l.t.Fatal(err)
	}
	own := filepath.Join(l.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(own, []byte(strings.ReplaceAll(string(data), l.server.URL, "https://"+l.at)), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return sections{"name": name, "kubeconfig": own}
}

// Annotations that mark an entity as stale, and name the cluster it was found
// in.
const (
	annotationStale      = "backstage.io/stale"
	annotationStaleSince = "backstage.io/stale-since"
	annotationFoundAt    = "backstage.io/discovered-at"
	annotationFoundIn    = "backstage.io/discovered-from"
)

// content is an entity without its stale marks and the fields that change with
// them.
type content struct{ UID, Text string }

// contents returns all entities of the catalog without their stale marks.
func (s *service) contents() map[string]content {
	s.t.Helper()
	var all []map[string]any
	if _, err := s.get("/api/catalog/entities", &all); err != nil {
		s.t.Fatal(err)
	}
	out := map[string]content{}
	for _, e := range all {
		meta := e["metadata"].(map[string]any)
		uid := fmt.Sprint(meta["uid"])
		delete(meta, "etag")
		delete(meta, "uid")
		if a, ok := meta["annotations"].(map[string]any); ok {
			for _, key := range []string{annotationStale, annotationStaleSince, annotationFoundAt} {
				delete(a, key)
			}
		}
		text, err := json.MarshalIndent(e, "", " ")
		if err != nil {
			s.t.Fatal(err)
		}
		out[strings.ToLower(fmt.Sprintf("%s:%s/%s", e["kind"], meta["namespace"], meta["name"]))] = content{uid, string(text)}
	}
	return out
}

// stale waits until exactly these entities are marked stale, with the wanted
// reason and a plausible time.
func (s *service) stale(what string, earliest time.Time, refs ...string) {
	s.t.Helper()
	slices.Sort(refs)
	s.until("stale entities", func() error {
		var all []found
		if _, err := s.get("/api/catalog/entities", &all); err != nil {
			return err
		}
		var got []string
		for _, f := range all {
			a := f.Metadata.Annotations
			if a[annotationStale] == "" && a[annotationStaleSince] == "" {
				continue
			}
			got = append(got, f.ref())
			since, err := time.Parse(time.RFC3339, a[annotationStaleSince])
			if err != nil {
				return err
			}
			if since.Before(earliest.Truncate(time.Millisecond)) || since.After(time.Now()) {
				return fmt.Errorf("%s is stale since %q, want a time between the start of the test and now", f.ref(), a[annotationStaleSince])
			}
			if !strings.Contains(a[annotationStale], what) {
				return fmt.Errorf("%s is stale because of %q, want %q", f.ref(), a[annotationStale], what)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, refs) {
			return fmt.Errorf("stale entities are %v, want %v", got, refs)
		}
		return nil
	})
}

// sourceHealth returns the health of a source.
func (s *service) sourceHealth(source string) health.Source {
	s.t.Helper()
	for _, h := range s.health().Sources {
		if h.Name == source {
			return h
		}
	}
	s.t.Fatalf("health does not list the source %s", source)
	return health.Source{}
}

// staleObjects returns the number of stale objects of a source.
func (s *service) staleObjects(source string) int {
	s.t.Helper()
	return int(s.metric(fmt.Sprintf("composer_ingestor_stale_objects{source=%q}", source)))
}

// composites waits until the catalog has n composites, and returns their
// references.
func (s *service) composites(n int) (refs []string) {
	s.t.Helper()
	s.until("composites", func() (err error) {
		refs, err = s.refs("kind=resource,spec.type=crossplane-xr")
		if err == nil && len(refs) != n {
			err = fmt.Errorf("composites are %v, want %d", refs, n)
		}
		return err
	})
	return refs
}

// TestClusterOutage checks outages of one of two clusters: it is down when the
// service starts, comes up, is killed, and comes back. At the end the clusters
// have different versions of the same definition.
func TestClusterOutage(t *testing.T) {
	t.Parallel()
	began := time.Now()
	west := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one")}})
	east := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		definition("betas", "one"), definition("gammas", "one"), composition("beta-one", "betas"),
	}})
	east.Apply(t, composite("mine", "betas"))
	way := newLine(t, east)
	east.Kill()
	s := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, way.cluster("east"), cluster("west", west))})
	well := map[string]string{"east": "connected", "west": "connected"}
	away := map[string]string{"east": "unreachable", "west": "connected"}
	const source = "composerIngestor/east"

	// The cluster is down when the service starts.
	s.waitForRefs("", entities("alphas")...)
	s.until("the outage in health", func() error {
		// The proxy accepts connections, but the API server behind it is down.
		if h := s.health(); h.Status != "degraded" || h.Clusters["west"] != "connected" || h.Clusters["east"] == "connected" || s.sourceHealth(source).LastError == "" {
			return fmt.Errorf("health is %+v, want degraded because of the cluster east", h)
		}
		return nil
	})
	way.cut()
	s.rescan(source)
	s.wantHealth("degraded", away)
	first := s.stamps("")
	east.Restart(t)
	way.reconnect()
	mine := append(entities("betas"), "resource:default/beta-one-composition")
	all := slices.Concat(entities("alphas", "gammas"), mine)
	mine = append(mine, s.composites(1)...)
	all = append(all, s.composites(1)...)
	s.waitForRefs("", all...)
	s.wantHealth("healthy", well)
	s.checkUnchanged(first, entities("alphas")...)

	// The cluster goes down after a successful scan.
	before, stamps := s.contents(), s.stamps("")
	east.Kill()
	way.cut()
	s.wantHealth("degraded", away)
	s.stale("east/definitions", began, append(entities("gammas"), mine...)...)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks:\n%s", diff)
	}
	s.checkUnchanged(stamps, entities("alphas")...)
	h := s.sourceHealth(source)
	if !strings.Contains(h.LastError, `cluster "east"`) || !strings.Contains(h.LastError, "refused") || len(h.Stale) == 0 || !h.LastAttempt.After(h.LastSuccess) {
		t.Errorf("health of the cluster is %+v, want the refused connection", h)
	}
	if n := s.staleObjects(source); n != 4 {
		t.Errorf("%d objects are stale, want two definitions, a Composition and a composite", n)
	}

	// The cluster comes back. One definition was deleted during the outage.
	east.Restart(t)
	east.Delete(t, definition("gammas", "one"))
	way.reconnect()
	s.waitForRefs("", append(entities("alphas"), mine...)...)
	s.wantHealth("healthy", well)
	s.stale("", began)
	for _, ref := range entities("gammas") {
		delete(before, ref)
	}
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks after the outage:\n%s", diff)
	}
	s.checkUnchanged(stamps, entities("alphas")...)
	if n := s.staleObjects(source); n != 0 {
		t.Errorf("%d objects are stale, want none", n)
	}
	s.checkConflict(began, west, east, way, away, well)
}

// checkConflict gives two clusters different versions of a definition. The version
// with the higher generation wins, even while its cluster is unreachable, until
// the definition is deleted there.
func (s *service) checkConflict(began time.Time, west, east *apiserver.Server, way *line, away, well map[string]string) {
	t := s.t
	t.Helper()
	others := s.contents()
	west.Apply(t, definition("deltas", "western"))
	s.waitForRefs("kind=template,metadata.name=deltas."+group, template("deltas"))
	uid := s.entity(template("deltas")).Metadata.UID
	// The second version of the definition has generation 2.
	east.Apply(t, definition("deltas", "northern"))
	east.Apply(t, definition("deltas", "eastern"))
	shows := func(field, from string) {
		t.Helper()
		s.until("the schema with "+field, func() error {
			f := s.entity(template("deltas"))
			if f == nil || f.Metadata.UID != uid || !strings.Contains(string(f.Spec), field) || f.Metadata.Annotations[annotationFoundIn] != from {
				return fmt.Errorf("entity is %+v", f)
			}
			return nil
		})
	}
	shows("eastern", "east,west")
	var x inspect.Explanation
	if _, err := s.get("/api/composer-ingestor/explain/deltas."+group, &x); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.Findings, func(f status.Finding) bool {
		return f.Rule == "XRD003" && strings.Contains(f.Message, "east") && strings.Contains(f.Message, "west")
	}) {
		t.Errorf("no finding names both clusters: %+v", x.Findings)
	}

	before := s.contents()
	way.cut()
	s.wantHealth("degraded", away)
	var theirs []string
	for ref := range before {
		if !slices.Contains(entities("alphas"), ref) {
			theirs = append(theirs, ref)
		}
	}
	s.stale("east/definitions", began, theirs...)
	if diff := cmp.Diff(before, s.contents()); diff != "" {
		t.Errorf("entities changed in more than their stale marks while the cluster with the winning version was down:\n%s", diff)
	}
	way.reconnect()
	s.wantHealth("healthy", well)
	s.stale("", began)

	east.Delete(t, definition("deltas", "eastern"))
	shows("western", "west")
	now := s.contents()
	maps.DeleteFunc(now, func(ref string, _ content) bool { return slices.Contains(entities("deltas"), ref) })
	if diff := cmp.Diff(others, now); diff != "" {
		t.Errorf("other entities changed:\n%s", diff)
	}
}
