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
	incomplete, err = eachCluster(ctx, known, func(i int, at *cluster.Cluster) error {
		may, err := c.guard(ctx, at.Name())
		if err != nil {
			return err
		}
		return may.on.Resources(ctx, pairs[i].Old, known[i].Namespaces, func(n *tree.Node) error {
			if !may.read(n, pairs[i].Old.Group) {
				hidden.add(at.Name())
				return nil
			}
			counted, err := im.Add(ctx, at.Name(), n)
			if counted {
				done := int(checked.Add(1))
				if progress != nil {
					progress(done)
				}
				if done >= mostResources {
					return errEnough
				}
			}
			return errors.Join(err, ctx.Err())
		})
	})
	if err != nil {
		return result, nil, err
	}
	result = im.Result()
	return result, append(incomplete, hidden.lines()...), c.nameReadable(ctx, req, &result)
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

// nameReadable keeps the names of resources whose entities the caller may read, with their
// references. The others are only counted.
func (c *Changes) nameReadable(ctx context.Context, req *request, result *impact.Result) error {
	left := mostLookups
	seen := map[string]bool{}
	for i := range result.Definitions {
		d := &result.Definitions[i]
		known := req.ingested[d.Name]
		for j := range d.Effects {
			e := &d.Effects[j]
			shown := []impact.Resource{}
			for _, r := range e.Resources {
				ref := known.entity(engine.CompositeKey{Cluster: r.Cluster, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
				may, ok := seen[ref]
				if !ok {
					if left--; left < 0 {
						break
					}
					var err error
					if may, err = c.Readable(ctx, ref); err != nil {
						return err
					}
					seen[ref] = may
				}
				if may && len(shown) < mostNames {
					r.Entity = ref
					shown = append(shown, r)
				}
			}
			e.Resources = shown
		}
	}
	return nil
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
