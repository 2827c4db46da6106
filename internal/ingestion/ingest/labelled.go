package ingest

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// labelled reads the workloads of a cluster that have an ID label.
type labelled struct {
	*target
	cluster *cluster.Cluster
}

// unitWorkload is the prefix of the unit names of workloads; the ID follows. The name
// of a definition has no colon.
const unitWorkload = "workload:"

// scan reads all kinds of workloads, for each spelling of the label.
func (w *labelled) scan(ctx context.Context, s *scan) error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, k := range cluster.Workloads(nil) {
		for _, label := range words.Spellings(words.Key, words.LabelClusterID) {
			group.Go(func() error {
				s.read(ctx, w.cluster, w.list(k, label))
				return nil
			})
		}
	}
	_ = group.Wait()
	if err := s.remove(ctx); err != nil {
		return err
	}
	count := 0
	for _, l := range s.lists {
		if l.err != nil {
			// The total is unknown.
			return ctx.Err()
		}
		count += l.count
	}
	if w.variant.in.news("workloads "+w.name, numOfCustomResources(count)) {
		// The wording is part of the contract: operators search for this line.
		w.variant.Log.Info("workloads with an id were read", "cluster", w.at, "numOfCustomResources", count)
	}
	return ctx.Err()
}

func numOfCustomResources(n int) string { return "numOfCustomResources=" + strconv.Itoa(n) }

func (w *labelled) list(k cluster.Kind, label string) list {
	return list{
		name: listWorkloads + k.String() + " " + label, short: strings.ToLower(k.Kind), res: k.Resource, survey: label, labels: []string{label}, refuse: never,
		object: func(n *tree.Node) (mirror.Object, error) {
			n = cluster.Workload(k, n)
			origin := w.cluster.Origin(strings.ToLower(k.Kind), n.Get("metadata", "namespace").Str(), name(n))
			return mirror.Object{
				Unit: unitWorkload + n.Get("metadata", "labels", label).Str(), Note: note{Origin: origin}.encode(), Body: body(n),
			}, nil
		},
	}
}
