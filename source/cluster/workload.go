package cluster

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// workloads reads the workloads with an id.
func (r *reading) workloads(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, k := range Workloads(nil) {
		for _, label := range words.Spellings(words.Key, words.LabelClusterID) {
			group.Go(func() error {
				all, err := r.list(ctx, listing{Resource: k.Resource, labels: label, metadata: true})
				r.keepWorkloads(k, all, err)
				return nil
			})
		}
	}
	_ = group.Wait() // Failures are in r.errs.
}

// keepWorkloads adds the result of a list of workloads, each workload once: one may
// have both spellings of the label.
func (r *reading) keepWorkloads(k Kind, all page, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range all.objects {
		origin := r.workload(k, n)
		if r.seen[origin.File] {
			continue
		}
		r.seen[origin.File] = true
		r.set.Documents++
		r.set.AddWorkload(Workload(k, n), origin)
	}
	r.set.Documents += len(all.unreadable)
	r.set.Findings = append(r.set.Findings, r.findings(strings.ToLower(k.Kind), all.unreadable)...)
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.lists++
}

// Workload returns what is kept of a workload of a kind: its metadata, with
// apiVersion and kind, which a list of metadata does not include.
func Workload(k Kind, n *tree.Node) *tree.Node {
	n = xrd.Prune(n, xrd.RoleWorkload)
	n.Set("apiVersion", tree.Str(k.Group+"/"+k.Version))
	n.Set("kind", tree.Str(k.Kind))
	return n
}

// workload returns where a workload was found.
func (c *Cluster) workload(k Kind, n *tree.Node) xrd.Origin {
	return c.Origin(strings.ToLower(k.Kind), n.Get("metadata", "namespace").Str(), n.Get("metadata", "name").Str())
}
