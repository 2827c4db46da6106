package kube

import (
	"context"
	"time"
)

// Limits for all clusters together.
const (
	// The API has no watch for a whole group, and a watch takes about 40 kB. mostWatched is
	// how many kinds of composites are watched per cluster, and mostWatchedTogether how many
	// in all clusters. The others are read on the schedule.
	mostWatched         = 500
	mostWatchedTogether = 5000
	// mostTaken is how many lists of watches are processed at once: at the start, and after
	// an outage, every watch begins with one, of which all objects may have changed.
	mostTaken = 8
	// mostWaited is how long a list waits for others: those of clusters that answer slowly may
	// take minutes, which are no reason for the others to wait.
	mostWaited = 2 * time.Second
)

// Share is what the clusters of a process share. It is safe for concurrent use.
type Share struct {
	// mostWatched is how many kinds of composites are watched in each cluster.
	mostWatched int
	taking      chan struct{}
}

// NewShare returns the share of a number of clusters.
func NewShare(clusters int) *Share {
	return &Share{
		mostWatched: max(1, min(mostWatched, mostWatchedTogether/max(1, clusters))),
		taking:      make(chan struct{}, mostTaken),
	}
}

// enter waits until a list may be processed, and returns a function that ends that.
func (s *Share) enter(ctx context.Context) (leave func(), err error) {
	waited := time.NewTimer(mostWaited)
	defer waited.Stop()
	select {
	case s.taking <- struct{}{}:
		return func() { <-s.taking }, nil
	case <-waited.C:
		return func() {}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
