package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
)

// ndjson is the media type of a response with progress.
const ndjson = "application/x-ndjson"

// errEnough ends the reading of resources at the limit.
var errEnough = errors.New("too many resources")

func count(n int) string { return strconv.Itoa(n) }

// validate validates the live resources of the changed definitions.
func (c *Changes) validate(ctx context.Context, req *request, progress func(int)) (result impact.Result, incomplete []string, err error) {
	pairs := slices.DeleteFunc(slices.Clone(req.pairs), func(p diff.Pair) bool {
		return p.Old == nil || !slices.ContainsFunc(p.Changes, func(c diff.Change) bool { return c.Severity > finding.Info })
	})
	im := impact.New(pairs, impact.Options{})
	known := make([]Ingested, len(pairs))
	for i := range pairs {
		known[i] = req.ingested[pairs[i].Old.Name]
	}
	var checked atomic.Int64
	var hidden hiddenCounts
	reader, stop := c.reader(ctx)
	defer stop()
	ctx = reader.ctx
	incomplete, err = eachCluster(ctx, known, func(i int, at *cluster.Cluster) error {
		may, err := c.guard(ctx, at.Name())
		if err != nil {
			return err
		}
		affected := batch[*impact.Checked]{do: func(all []*impact.Checked) error { return reader.count(known[i], all) }}
		err = may.on.Resources(ctx, pairs[i].Old, known[i].Namespaces, func(n *tree.Node) error {
			if !may.read(n, pairs[i].Old.Group) {
				hidden.add(at.Name())
				return nil
			}
			resource, err := im.Check(ctx, at.Name(), n)
			if resource == nil || err != nil {
				return errors.Join(err, ctx.Err())
			}
			if resource.Affected() {
				err = affected.add(resource)
			} else {
				resource.Count(false)
			}
			done := int(checked.Add(1))
			if progress != nil {
				progress(done)
			}
			if done >= mostResources {
				return errEnough
			}
			return errors.Join(err, ctx.Err())
		})
		return errors.Join(err, affected.flush())
	})
	if err != nil {
		return result, nil, reader.failure(err)
	}
	result = im.Result()
	for i := range result.Definitions {
		for j := range result.Definitions[i].Effects {
			e := &result.Definitions[i].Effects[j]
			e.Resources = e.Resources[:min(len(e.Resources), mostNames)]
		}
	}
	return result, append(incomplete, hidden.lines()...), nil
}

// count counts resources, and names those whose entities the caller may read, with their
// references.
func (r *reader) count(known Ingested, all []*impact.Checked) error {
	refs := make([]string, len(all))
	for i, c := range all {
		refs[i] = known.entity(engine.CompositeKey{Cluster: c.Resource.Cluster, Kind: c.Resource.Kind, Namespace: c.Resource.Namespace, Name: c.Resource.Name})
	}
	return r.each(refs, func(i int, may bool) {
		all[i].Resource.Entity = refs[i]
		all[i].Count(may)
	})
}

// eachCluster calls read for each cluster of definitions, a few at a time, with the index
// of the definition. Clusters are read with the account of the portal. What cannot be
// read is returned without the reason, which has addresses.
func eachCluster(ctx context.Context, known []Ingested, read func(i int, at *cluster.Cluster) error) (incomplete []string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, clustersAtOnce)
	fail := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if why := fmt.Sprintf(format, args...); !slices.Contains(incomplete, why) {
			incomplete = append(incomplete, why)
		}
	}
	for i := range known {
		for _, at := range known[i].Clusters {
			const unread = "cluster %s cannot be read; see the health of its source"
			if at.Err != nil {
				fail(unread, at.Name)
				continue
			}
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				defer func() {
					// A bug in the code of a schema must not end the process.
					if recover() != nil {
						fail("resources of cluster %s cannot be validated", at.Name)
					}
				}()
				err := read(i, at.Cluster)
				fault, refused := errors.AsType[*rest.Fault](err)
				switch {
				case refused:
					fail("cluster %s is not read: %s", at.Name, fault.Message)
				case errors.Is(err, errEnough):
					fail("more than %d resources; ingestor-cli --cluster has no such limit", mostResources)
				case err != nil:
					fail(unread, at.Name)
				}
			})
		}
	}
	wg.Wait()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, rest.Unavailable(ctx.Err(), "Reading the clusters took longer than %s; ingestor-cli --cluster has no such limit", timeout)
	}
	slices.Sort(incomplete)
	return incomplete, ctx.Err()
}

// progressEvery is how often a stream reports its progress.
const progressEvery = time.Second

// line is a line of a stream: progress, the result, or why there is none.
type line struct {
	Checked *int    `json:"checked,omitempty"`
	Result  *Answer `json:"result,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// stream answers with a line for the progress every second, and a last one with the
// result.
func (c *Changes) stream(ctx context.Context, w http.ResponseWriter, req *request) error {
	w.Header().Set("Content-Type", ndjson)
	w.Header().Set("Cache-Control", "no-store")
	var checked atomic.Int64
	done := make(chan line, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer func() {
			if recover() != nil {
				done <- line{Error: "Comparison failed"}
			}
		}()
		answer, err := c.answer(ctx, req, func(n int) { checked.Store(int64(n)) })
		if err != nil {
			done <- line{Error: rest.FaultOf(err).Message}
			return
		}
		done <- line{Result: answer}
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n := int(checked.Load())
			if err := send(w, line{Checked: &n}); err != nil {
				cancel()
				// Wait: the slot of the request is free only when its work has ended.
				<-done
				return err
			}
		case last := <-done:
			return send(w, last)
		}
	}
}

func send(w http.ResponseWriter, l line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, string(data)+"\n"); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
