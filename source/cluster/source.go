package cluster

import (
	"context"
	"errors"
	"sync"

	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// Status is the result of reading one cluster.
type Status struct {
	Cluster, URL string
	// Definitions, Compositions, Composites and Workloads count what was read.
	Definitions, Compositions, Composites, Workloads int
	// Lists counts the lists that were read completely; if there is none, nothing is
	// known about the cluster.
	Lists int
	// Known says that the definitions were read completely: those that are missing do
	// not exist.
	Known bool
	// Err joins an *Error for everything that could not be read; nil means that nothing
	// is missing.
	Err error
}

// Source reads clusters.
type Source struct {
	clusters []*Cluster
	opts     ReadOptions
	done     func(Status)
}

var _ source.Source = (*Source)(nil)

// New returns a Source of clusters, which are read concurrently. done, if not nil,
// receives the status of each one when it is finished, by one goroutine at a time.
func New(clusters []*Cluster, opts ReadOptions, done func(Status)) *Source {
	return &Source{clusters: clusters, opts: opts, done: done}
}

// Read reads all clusters. The result is in their order, and contains what could be
// read from each.
func (s *Source) Read(ctx context.Context) (*xrd.Set, error) {
	sets, errs := make([]*xrd.Set, len(s.clusters)), make([]error, len(s.clusters))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, c := range s.clusters {
		wg.Go(func() {
			r, err := c.read(ctx, s.opts)
			sets[i], errs[i] = r.set, err
			if s.done == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s.done(Status{
				Cluster: c.name, URL: c.way.URL, Lists: r.lists, Known: r.known, Err: err,
				Definitions: len(r.set.Definitions), Compositions: len(r.set.Compositions), Composites: len(r.set.Others), Workloads: len(r.set.Workloads),
			})
		})
	}
	wg.Wait()
	all := &xrd.Set{}
	for _, set := range sets {
		all.Join(set)
	}
	return all, errors.Join(errs...)
}
