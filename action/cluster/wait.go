package cluster

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// errLate is the cause of a wait that timed out.
var errLate = errors.New("timeout exceeded")

// Poll intervals while waiting for an object.
const (
	firstPause = 200 * time.Millisecond
	mostPause  = 2 * time.Second
)

// poll calls look until it reports that it is done, or ctx ends. Temporary server
// errors are retried.
func (a *applying) poll(ctx context.Context, d *manifest.Document, look func(n *tree.Node) (done bool, err error)) error {
	told := ""
	for pause := firstPause; ; pause = min(pause*3/2, mostPause) {
		n, err := live(ctx, a.on, d)
		if err == nil {
			done, err := look(n)
			if done || err != nil {
				return err
			}
		}
		switch refusal.ReasonOf(err) {
		case "", cluster.Canceled:
		case cluster.Unreachable, cluster.Timeout, cluster.Server:
			if ctx.Err() == nil && told != err.Error() {
				told = err.Error()
				a.logf("%s; still waiting", told)
			}
		default:
			return refusal.Explain(a.on, d, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitReady waits until every document is ready, and logs changes of its
// conditions.
func (a *applying) awaitReady(ctx context.Context, docs []*manifest.Document) error {
	ctx, cancel := context.WithTimeoutCause(ctx, a.Wait, errLate)
	defer cancel()
	for _, d := range docs {
		seen := conditions{}
		err := a.poll(ctx, d, func(n *tree.Node) (bool, error) {
			switch {
			case n == nil:
				return false, refusal.Errorf(a.on, "wait for "+d.String(), refusal.Missing, "find out what deleted it", "object no longer exists")
			case n.Get("metadata", "deletionTimestamp") != nil:
				return false, refusal.Errorf(a.on, "wait for "+d.String(), refusal.Missing, "find out what deletes it", "object is being deleted")
			}
			for _, line := range seen.changes(n) {
				a.logf("%s: %s", d, line)
			}
			return ready(n), nil
		})
		if errors.Is(err, errLate) {
			return refusal.Errorf(a.on, "wait for "+d.String(), refusal.Late, "check the object in the cluster, or wait longer; it is applied, and the cluster continues to process it",
				"not ready after %v: %s", a.Wait, seen)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// conditions are the last seen conditions of an object, by type.
type conditions map[string]string

// changes returns a line for each condition that is new or has changed.
func (s conditions) changes(n *tree.Node) []string {
	var out []string
	for _, c := range n.Get("status", "conditions").List() {
		name := c.Get("type").Str()
		line := name + " is " + c.Get("status").Str()
		for _, more := range []string{c.Get("reason").Str(), strings.TrimSpace(c.Get("message").Str())} {
			if more != "" {
				line += ": " + more
			}
		}
		if s[name] != line {
			s[name] = line
			out = append(out, line)
		}
	}
	return out
}

// String returns why an object is not ready.
func (s conditions) String() string {
	if line, ok := s[conditionReady]; ok {
		return line
	}
	return "no condition " + conditionReady
}

const conditionReady = "Ready"

// ready reports whether an object is ready in its current generation.
func ready(n *tree.Node) bool {
	generation := number64(n.Get("metadata", "generation"))
	for _, c := range n.Get("status", "conditions").List() {
		if c.Get("type").Str() != conditionReady {
			continue
		}
		at := c.Get("observedGeneration")
		if at == nil {
			at = n.Get("status", "observedGeneration")
		}
		return c.Get("status").Str() == "True" && (at == nil || number64(at) >= generation)
	}
	return false
}

// number64 returns the integer value of n; 0 if n is not an integer.
func number64(n *tree.Node) int64 {
	v, err := strconv.ParseInt(n.Scalar(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
