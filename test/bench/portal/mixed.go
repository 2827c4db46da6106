package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.dev/ingestor/test/bench/backend"
)

// read is one of the mixed requests with its share in percent.
type read struct {
	name  string
	of    int
	query func(r *rand.Rand, components int) string
}

// mix are the requests of a portal's pages: an entity's page, a list, a table
// of 20 with its filters, and a search.
var mix = []read{
	{"by-name", 40, func(r *rand.Rand, components int) string {
		return fmt.Sprintf("/api/catalog/entities/by-name/component/default/component-%06d", r.IntN(components))
	}},
	{"page of 20", 25, func(r *rand.Rand, _ int) string {
		return "/api/catalog/entities/by-query?limit=20&orderField=metadata.name,asc&filter=kind=component,spec.type=" +
			[]string{"service", "website", "library"}[r.IntN(3)]
	}},
	{"list of 100", 5, func(r *rand.Rand, _ int) string {
		return "/api/catalog/entities?limit=100&filter=kind=" + kinds[r.IntN(len(kinds))].name
	}},
	{"facets of kinds", 10, func(*rand.Rand, int) string { return "/api/catalog/entity-facets?facet=kind" }},
	{"facets of a kind", 10, func(r *rand.Rand, _ int) string {
		return "/api/catalog/entity-facets?facet=spec.type&facet=spec.owner&facet=metadata.tags&filter=kind=" + kinds[r.IntN(len(kinds))].name
	}},
	{"facets of an owner", 5, func(r *rand.Rand, _ int) string {
		return fmt.Sprintf("/api/catalog/entity-facets?facet=kind&facet=spec.type&filter=spec.owner=team-%d", r.IntN(50))
	}},
	{"search", 5, func(r *rand.Rand, components int) string {
		return fmt.Sprintf("/api/catalog/entities/by-query?limit=20&fullTextFilterTerm=component-%04d", r.IntN(components)/100)
	}},
}

// timing is the duration of a request.
type timing struct {
	read int
	due  time.Time
	took time.Duration
}

// mixed sends requests at a constant rate until ctx ends, without waiting for
// earlier responses, and returns the duration of each from when it was due.
func (s *server) mixed(ctx context.Context, rate, components int) ([]timing, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	defer client.CloseIdleConnections()
	r := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	var all []timing
	var failed error
	var wg sync.WaitGroup
	step := time.Second / time.Duration(rate)
	for due := time.Now(); ctx.Err() == nil; due = due.Add(step) {
		time.Sleep(time.Until(due))
		which := draw(r)
		path := mix[which].query(r, components)
		wg.Go(func() {
			err := s.fetch(client, path)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, timing{which, due, took})
			if err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	return all, failed
}

func draw(r *rand.Rand) int {
	n := r.IntN(100)
	for i := range mix {
		if n -= mix[i].of; n < 0 {
			return i
		}
	}
	return 0
}

// fetch reads a response.
func (s *server) fetch(client *http.Client, path string) error {
	req, err := http.NewRequest(http.MethodGet, s.Base+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+backend.Token)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %s", path, res.Status)
	}
	return nil
}

// spread has percentiles of durations, in milliseconds.
type spread struct {
	n             int
	p50, p99, max float64
}

func spreadOf(all []timing, of func(timing) bool) spread {
	var took []float64
	for _, s := range all {
		if of(s) {
			took = append(took, float64(s.took.Microseconds())/1000)
		}
	}
	if len(took) == 0 {
		return spread{}
	}
	slices.Sort(took)
	return spread{len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1]}
}
