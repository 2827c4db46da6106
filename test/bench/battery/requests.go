package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.dev/ingestor/test/bench/backend"
)

// perProvider is how many entities one provider has at most.
const perProvider = 125_000

// harness measures one running backend.
type harness struct {
	w      io.Writer
	b      *backend.Backend
	client *http.Client
	shape  shape
	// providers is how many providers share the entities.
	providers int
	column    *column
	// changes counts the deltas that were pushed, so that each is different.
	changes atomic.Int64
	// position is where the feed continues; mu is held while it is read.
	mu       sync.Mutex
	position string
}

func (h *harness) provider(i int) string { return fmt.Sprintf("battery-%d", i) }

// fill pushes all entities, provider by provider, unless the catalog has them.
func (h *harness) fill(path string) error {
	total, err := h.b.Entities("")
	if err != nil || total >= h.shape.n*9/10 {
		return err
	}
	took := time.Duration(0)
	written := 0
	for p := range h.providers {
		n, d, err := h.push(path, p, 0)
		if err != nil {
			return err
		}
		took, written = took+d, written+n
	}
	h.note("sync, all entities new", float64(written)/took.Seconds(), "entities/s", "")
	return nil
}

// syncs fills the catalog, then pushes the entities of one provider again: unchanged, and
// all changed.
func (h *harness) syncs(path string) error {
	if err := h.fill(path); err != nil || *match != "" {
		return err
	}
	for _, step := range []struct {
		name       string
		generation int
	}{{"sync of one provider, unchanged", 0}, {"sync of one provider, every Component changed", 1}, {"sync of one provider, changed back", 0}} {
		longest := h.changeOthers()
		n, d, err := h.push(path, 0, step.generation)
		wait, failed := longest()
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		h.note(step.name, float64(n)/d.Seconds(), "entities/s", "")
		if h.providers > 1 {
			h.note(step.name+", longest change of another provider meanwhile", float64(wait.Milliseconds()), "milliseconds", "")
		}
	}
	peak, err := h.b.Memory(backend.Peak)
	h.note("resident memory while syncing", peak, "MB", "600")
	return err
}

// changeOthers changes one Component after the other of the second provider, if there is
// one, until the returned function is called, which returns how long the slowest took.
func (h *harness) changeOthers() func() (longest time.Duration, err error) {
	if h.providers == 1 {
		return func() (time.Duration, error) { return 0, nil }
	}
	var longest time.Duration
	end, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i += h.providers {
			if i >= h.shape.count(components) {
				i = 1
			}
			begin := time.Now()
			if err := h.change(i); err != nil {
				failed <- err
				return
			}
			longest = max(longest, time.Since(begin))
			select {
			case <-end:
				failed <- nil
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() (time.Duration, error) {
		close(end)
		err := <-failed
		return longest, err
	}
}

// push replaces the entities of a provider, and returns how many it has.
func (h *harness) push(path string, provider, generation int) (int, time.Duration, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }()
	n, err := h.shape.write(f, provider, h.providers, generation)
	if err != nil {
		return 0, 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, 0, err
	}
	var result struct {
		Refused []struct{ Ref, Reason string }
	}
	begin := time.Now()
	err = h.send(http.MethodPut, "/api/catalog/providers/"+h.provider(provider)+"/entities", f, &result)
	took := time.Since(begin)
	if err == nil && len(result.Refused) > 0 {
		err = fmt.Errorf("%d entities were refused, the first: %v", len(result.Refused), result.Refused[0])
	}
	return n, took, err
}

// send sends NDJSON.
func (h *harness) send(method, path string, body io.Reader, v any) error {
	req, err := http.NewRequest(method, h.b.Base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	return h.do(req, v)
}

func (h *harness) do(req *http.Request, v any) error {
	_, err := h.ask(req, v)
	return err
}

// ask sends a request, reads the response into v unless v is nil, and returns its headers.
func (h *harness) ask(req *http.Request, v any) (http.Header, error) {
	req.Header.Set("Authorization", "Bearer "+backend.Token)
	res, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if v == nil && res.StatusCode < http.StatusMultipleChoices {
		_, err := io.Copy(io.Discard, res.Body)
		return res.Header, err
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s %s", req.Method, req.URL.Path, res.Status, text[:min(len(text), 1000)])
	}
	return res.Header, json.Unmarshal(text, v)
}

func (h *harness) get(path string, v any) error {
	req, err := http.NewRequest(http.MethodGet, h.b.Base+path, http.NoBody)
	if err != nil {
		return err
	}
	return h.do(req, v)
}

// change pushes one changed Component.
func (h *harness) change(i int) error {
	r := rand.New(rand.NewPCG(uint64(components), uint64(i)))
	text := h.shape.componentText(i, 1000+int(h.changes.Add(1)), r)
	var result struct{ Added, Updated int }
	err := h.send(http.MethodPost, "/api/catalog/providers/"+h.provider(i%h.providers)+"/delta", strings.NewReader(text), &result)
	if err == nil && result.Updated != 1 {
		err = fmt.Errorf("delta of component %d changed nothing", i)
	}
	return err
}

// request is a kind of request that is measured.
type request struct {
	name string
	// share is its part of the mixed load of a soak, in percent.
	share int
	// target is how many milliseconds it may take at 750,000 entities on SQLite, and reference
	// what the reference's SQL alone takes at 739,000.
	target, reference string
	// changing says that an entity changes before each request, so that no answer is cached.
	changing bool
	do       func(r *rand.Rand) error
}

// The names of requests that are not only measured.
const (
	kindByName       = "by name"
	kindPage         = "page of 20 Components of a type, sorted by name"
	kindDeepPage     = "deep page of 20, by cursor"
	kindCount        = "count by kind and lifecycle, after a change"
	kindCountByLabel = "count by type, tag and label, after a change"
	kindChange       = "sync of one changed entity"
	kindFeed         = "feed of one change"
)

// kinds returns the kinds of requests. They may be made concurrently, with different r.
func (h *harness) kinds() []request {
	s := h.shape
	byQuery := func(params string) error {
		var page struct {
			Items      []json.RawMessage
			TotalItems int
		}
		return h.get("/api/catalog/entities/by-query?"+params, &page)
	}
	group := func(r *rand.Rand) string { return "group:default/" + s.group(rank(r, s.count(groups))) }
	var cursor atomic.Value
	return []request{
		{kindByName, 40, "1", "", false, func(r *rand.Rand) error {
			return h.get("/api/catalog/entities/by-name/component/default/"+s.component(r.IntN(s.count(components))), nil)
		}},
		{kindPage, 12, "5", "22.6", false, func(r *rand.Rand) error {
			return byQuery("limit=20&orderField=metadata.name,asc&filter=kind=component,spec.type=" + types[rank(r, len(types))])
		}},
		{"page of 20 entities of an owner, with the total", 8, "5", "", false, func(r *rand.Rand) error {
			return byQuery("limit=20&orderField=metadata.title,asc&filter=spec.owner=" + group(r))
		}},
		{"list of 100 full entities", 4, "", "", false, func(r *rand.Rand) error {
			return h.get("/api/catalog/entities?limit=100&filter=kind="+[]string{"component", "api", "resource", "user"}[r.IntN(4)], nil)
		}},
		{kindDeepPage, 6, "5", "", false, func(*rand.Rand) error {
			var page struct{ PageInfo struct{ NextCursor string } }
			var err error
			if at, _ := cursor.Load().(string); at == "" {
				err = h.get(fmt.Sprintf("/api/catalog/entities/by-query?limit=20&orderField=metadata.name,asc&filter=kind=component&offset=%d", s.count(components)/2), &page)
			} else {
				err = h.get("/api/catalog/entities/by-query?limit=20&cursor="+url.QueryEscape(at), &page)
			}
			cursor.Store(page.PageInfo.NextCursor)
			return err
		}},
		{kindCount, 3, "100", "452", true, func(r *rand.Rand) error {
			return byQuery("limit=0&filter=kind=component,spec.lifecycle=" + lifecycles[r.IntN(len(lifecycles))])
		}},
		{kindCountByLabel, 2, "100", "", true, func(r *rand.Rand) error {
			return byQuery(fmt.Sprintf("limit=0&filter=spec.type=%s,metadata.tags=%s,metadata.labels.example.org/tier=%d",
				types[rank(r, len(types))], languages[rank(r, len(languages))], r.IntN(4)))
		}},
		{"facets of kinds, after a change", 4, "100", "632", true, func(*rand.Rand) error {
			return h.get("/api/catalog/entity-facets?facet=kind", nil)
		}},
		{"facets of types, owners and tags of Components, after a change", 3, "100", "", true, func(*rand.Rand) error {
			return h.get("/api/catalog/entity-facets?facet=spec.type&facet=spec.owner&facet=metadata.tags&filter=kind=component", nil)
		}},
		{"page of any of two conditions, sorted, after a change", 2, "100", "2760", true, func(r *rand.Rand) error {
			q := fmt.Sprintf(`{"query":{"$any":[{"spec.owner":%q},{"spec.type":%q}]},"orderBy":[{"field":"metadata.name","order":"asc"}],"limit":20}`, group(r), types[rank(r, len(types))])
			req, err := http.NewRequest(http.MethodPost, h.b.Base+"/api/catalog/entities/by-query", strings.NewReader(q))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/json")
			return h.do(req, nil)
		}},
		{"full-text search of a word", 4, "30", "", false, func(r *rand.Rand) error {
			return byQuery("limit=20&fullTextFilterTerm=" + fmt.Sprintf("%06d", r.IntN(s.count(components))))
		}},
		{"full-text search of a frequent word", 3, "30", "", false, func(r *rand.Rand) error {
			return byQuery("limit=20&fullTextFilterTerm=" + nouns[r.IntN(len(nouns))])
		}},
		{"substring search in name and title", 2, "30", "", false, func(r *rand.Rand) error {
			return byQuery("limit=20&fullTextFilterFields=metadata.name,metadata.title&fullTextFilterTerm=" + fmt.Sprintf("%05d", r.IntN(s.count(components))))
		}},
		{"substring search of a frequent text in name and title", 1, "30", "", false, func(r *rand.Rand) error {
			return byQuery("limit=20&fullTextFilterFields=metadata.name,metadata.title&fullTextFilterTerm=" + nouns[r.IntN(len(nouns))][1:])
		}},
		{"a group with up to 20,000 members, with its relations", 1, "", "", false, func(*rand.Rand) error {
			return h.get("/api/catalog/entities/by-name/group/default/"+largeGroup, nil)
		}},
		{"page of 20 members of that group", 3, "5", "", false, func(r *rand.Rand) error {
			return byQuery(fmt.Sprintf("limit=20&orderField=metadata.name,%s&filter=kind=user,relations.memberof=group:default/%s", []string{"asc", "desc"}[r.IntN(2)], largeGroup))
		}},
		{"orphans, with the total", 2, "5", "", false, func(*rand.Rand) error {
			return byQuery("limit=20&filter=metadata.annotations.backstage.io/orphan=true")
		}},
		{kindChange, 0, "20", "", false, func(r *rand.Rand) error { return h.change(r.IntN(s.count(components))) }},
		{kindFeed, 0, "", "", true, func(*rand.Rand) error {
			_, err := h.follow()
			return err
		}},
	}
}

func (h *harness) requests() error {
	if err := h.settle(); err != nil {
		return err
	}
	for _, q := range h.kinds() {
		if strings.Contains(q.name, *match) {
			if err := h.measure(&q); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	now, err := h.b.Memory(backend.Resident)
	if err != nil {
		return err
	}
	h.note("resident memory while serving", now, "MB", "400")
	peak, err := h.b.Memory(backend.Peak)
	h.note("resident memory while serving, peak", peak, "MB", "400")
	return err
}

// follow reads the feed from where the last call ended, and returns its mode: full at
// first, then delta.
func (h *harness) follow() (mode string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	req, err := http.NewRequest(http.MethodGet, h.b.Base+"/api/catalog/feed.ndjson?since="+url.QueryEscape(h.position), http.NoBody)
	if err != nil {
		return "", err
	}
	header, err := h.ask(req, nil)
	if err != nil {
		return "", err
	}
	h.position = header.Get("Feed-Position")
	return header.Get("Feed-Mode"), nil
}

// fewest is how often each request is made at least.
const fewest = 30

// settle waits until a server that was just started is idle.
func (h *harness) settle() error {
	begin := time.Now()
	for before := math.Inf(-1); ; time.Sleep(time.Second) {
		now, err := h.b.CPU()
		if err != nil {
			return err
		}
		if now-before < idle {
			h.note("from the start of a server until it is idle", time.Since(begin).Seconds(), "s", "")
			return nil
		}
		before = now
	}
}

// idle is the CPU time in a second below which a server is idle.
const idle = 0.05

// measure repeats a request, after a first one, which is reported by itself, and others that
// fill caches for as long as the measurement takes.
func (h *harness) measure(q *request) error {
	r := rand.New(rand.NewPCG(1, 2))
	once := func() (time.Duration, error) {
		if q.changing {
			if err := h.change(r.IntN(h.shape.count(components))); err != nil {
				return 0, err
			}
		}
		begin := time.Now()
		err := q.do(r)
		return time.Since(begin), err
	}
	first, err := once()
	if err != nil {
		return err
	}
	for end := time.Now().Add(*each); time.Now().Before(end); {
		if _, err := once(); err != nil {
			return err
		}
	}
	before, err := h.b.CPU()
	if err != nil {
		return err
	}
	var took []float64
	for end := time.Now().Add(*each); time.Now().Before(end) || len(took) < fewest; {
		d, err := once()
		if err != nil {
			return err
		}
		took = append(took, float64(d.Microseconds())/1000)
	}
	after, err := h.b.CPU()
	if err != nil {
		return err
	}
	slices.Sort(took)
	f := figure{
		name: q.name, unit: "ms", target: q.target, reference: q.reference, first: float64(first.Microseconds()) / 1000,
		p50: took[len(took)/2], p99: took[len(took)*99/100], cpu: 1000 * (after - before) / float64(len(took)),
	}
	h.column.add(h.w, f)
	return nil
}

// note adds a figure that is not a latency.
func (h *harness) note(name string, value float64, unit, target string) {
	h.column.add(h.w, figure{name: name, unit: unit, p50: value, target: target})
}
