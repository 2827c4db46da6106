// Package listing reads one list of objects of a cluster, and stores in the mirror what
// differs from it.
package listing

import (
	"context"
	"errors"
	"strings"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/source/cluster"
)

// List describes a list of objects in a cluster.
type List struct {
	// Name identifies the list.
	Name     string
	Resource cluster.Resource
	// Labels are the selectors for reading full objects; the objects that they do not
	// match have been refused by then.
	Labels []string
	// Survey is the label selector for listing metadata.
	Survey string
	// Refuse returns why an object is not ingested, judged by its metadata; empty if it
	// is.
	Refuse func(cluster.Item) string
	// Object converts a full object to the mirror object that is stored.
	Object func(n *tree.Node) mirror.Object
}

// Reader reads the lists of a cluster for a scan. Its methods may be called concurrently,
// each for another list.
type Reader struct {
	*scan.Scan
	Cluster *cluster.Cluster

	mu sync.Mutex
	// silent is the error after which the cluster receives no more requests; nil while it
	// answers.
	silent error
}

// Read surveys a list and stores what changed.
func (s *Reader) Read(ctx context.Context, l List) {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent != nil {
		// Do not wait for an unresponsive cluster again for every list.
		s.Ended(l.Name, scan.Result{Err: silent})
		return
	}
	begun := s.Now()
	survey, err := s.Cluster.Survey(ctx, l.Resource, l.Survey)
	if err == nil {
		reached := Surveyed
		if len(survey.Unreadable) > 0 {
			// The unreadable objects still exist, so the list is incomplete and nothing may be
			// removed.
			reached = Some
		}
		s.Note(l.Name, survey.Unreadable)
		err = s.Take(ctx, l, survey.Items, survey.Version, reached)
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok && (e.Reason == cluster.Unreachable || e.Reason == cluster.Timeout) {
		s.mu.Lock()
		s.silent = err
		s.mu.Unlock()
	}
	if strings.HasPrefix(l.Name, object.ListDefinitions) {
		s.AddFound(len(survey.Items))
	}
	s.Variant.Log.Debug("list read", "source", s.Name, "list", l.Name, "objects", len(survey.Items), "version", survey.Version,
		"milliseconds", s.Now().Sub(begun).Milliseconds(), "error", status.Text(err))
	s.Ended(l.Name, s.granted(ctx, l, scan.Result{Count: len(survey.Items), Version: survey.Version, Err: err}))
}
