package kube

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/listing"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// workloads reads the workloads of a cluster that have an ID label.
type workloads struct {
	*scan.Target
	cluster *cluster.Cluster
}

// Workloads lets a target read the workloads of a cluster.
func Workloads(t *scan.Target, c *cluster.Cluster) {
	t.Read = (&workloads{Target: t, cluster: c}).read
}

// read reads all kinds of workloads, for each spelling of the label.
func (w *workloads) read(ctx context.Context, sc *scan.Scan) error {
	s := &listing.Reader{Scan: sc, Cluster: w.cluster}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, k := range cluster.Workloads(nil) {
		for _, label := range words.Spellings(words.Key, words.LabelClusterID) {
			group.Go(func() error {
				s.Read(ctx, w.list(k, label))
				return nil
			})
		}
	}
	_ = group.Wait()
	if err := s.Remove(ctx); err != nil {
		return err
	}
	count := 0
	for _, l := range s.Lists {
		if l.Err != nil {
			// The total is unknown.
			return ctx.Err()
		}
		count += l.Count
	}
	if w.Once.Changed("workloads "+w.Name, "numOfCustomResources="+strconv.Itoa(count)) {
		// The wording is part of the contract: operators search for this line.
		w.Variant.Log.Info("workloads with an id were read", "cluster", w.At, "numOfCustomResources", count)
	}
	return ctx.Err()
}

func (w *workloads) list(k cluster.Kind, label string) listing.List {
	return listing.List{
		Name: object.ListWorkloads + k.String() + " " + label, Resource: k.Resource, Survey: label, Labels: []string{label}, Refuse: never,
		Object: func(n *tree.Node) mirror.Object {
			n = cluster.Workload(k, n)
			origin := w.cluster.Origin(strings.ToLower(k.Kind), n.Get("metadata", "namespace").Str(), name(n))
			return object.FromWorkload(n, n.Get("metadata", "labels", label).Str(), origin)
		},
	}
}
