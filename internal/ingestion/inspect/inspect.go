// Package inspect finds and reports what is wrong with definitions and sources: it
// inspects changed units, explains a definition, and lists findings.
package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/pipeline"
)

const (
	// batchSize is the number of units per batch.
	batchSize = 200
	// loadSize is the number of units in memory at once, each of which may have an object
	// in every cluster.
	loadSize = 10
	// mostFindings are stored per unit; Explain returns all.
	mostFindings = 200
)

// Catalog knows which entities refer to which. It may be called concurrently.
type Catalog interface {
	// Missing returns owners and systems that entities of the service refer to but that do
	// not exist, sorted, at most limit.
	Missing(ctx context.Context, limit int) ([]MissingRef, error)
}

// Options are the options of New.
type Options struct {
	Builder *unit.Builder
	Mirror  *mirror.Mirror
	Catalog Catalog
	Targets []status.Target
	Now     func() time.Time
}

// Inspector finds and reports what is wrong. Its methods may be called concurrently.
type Inspector struct {
	opts Options
	mu   sync.Mutex
	// cached has the missing references of the catalog.
	cached cachedRefs
}

// New returns an inspector.
func New(o Options) *Inspector { return &Inspector{opts: o} }

// InspectBatch inspects a batch of the units that are due, and returns its size.
func (in *Inspector) InspectBatch(ctx context.Context) (int, error) {
	units, err := in.opts.Mirror.Unchecked(ctx, batchSize)
	if err != nil || len(units) == 0 {
		return 0, err
	}
	failures, err := status.Failures(ctx, in.opts.Mirror)
	if err != nil {
		return 0, err
	}
	for unit, why := range failures {
		failures[unit] = strings.TrimPrefix(why, pipeline.Failed)
	}
	pass, err := in.opts.Builder.Pass(ctx, unit.PassOptions{Uncached: true, Lint: true, Failing: failures})
	if err != nil {
		return 0, err
	}
	var found []mirror.Finding
	for some := range slices.Chunk(units, loadSize) {
		names := make([]string, len(some))
		for i, u := range some {
			names[i] = u.Name
		}
		loaded, err := in.opts.Builder.Load(ctx, names)
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			more, err := inspectOne(ctx, pass, name, loaded[name])
			if err != nil {
				return 0, err
			}
			found = append(found, more...)
			delete(loaded, name)
		}
	}
	return len(units), in.opts.Mirror.Checked(ctx, units, found)
}

// noted is a finding as it is stored.
type noted struct {
	status.Finding
	// Object names the object it is about, Entity is the reference of the entity built
	// from it; empty if there is none.
	Object string `json:"object,omitempty"`
	Entity string `json:"entity,omitempty"`
}

// inspectOne returns the findings about a unit.
func inspectOne(ctx context.Context, pass *unit.Pass, name string, from unit.Loaded) (out []mirror.Finding, err error) {
	if len(from.Objects) == 0 {
		return nil, nil
	}
	entities, m := transform(ctx, pass, name, from)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.Findings, func(a, b finding.Finding) int { return int(b.Severity) - int(a.Severity) })
	for _, f := range m.Findings[:min(len(m.Findings), mostFindings)] {
		body, err := json.Marshal(noted{Finding: status.FindingOf(f), Object: f.Object, Entity: about(entities, f)})
		if err != nil {
			return nil, err
		}
		out = append(out, mirror.Finding{Unit: name, Severity: int(finding.Error - f.Severity), Rule: f.Rule, Body: body})
	}
	return out, nil
}

// transform calls Transform and recovers from a panic.
func transform(ctx context.Context, pass *unit.Pass, name string, from unit.Loaded) (entities []*entity.Entity, m unit.Result) {
	defer func() {
		if p := recover(); p != nil {
			// The worker reports the failure.
			entities, m = nil, unit.Result{Failed: fmt.Sprint(p)}
		}
	}()
	return pass.Transform(ctx, name, from, pass.At)
}

// about returns the reference of the entity that a finding is about: the one it names,
// or that of the definition itself.
func about(entities []*entity.Entity, f finding.Finding) string {
	best := ""
	for _, e := range entities {
		key := e.Key()
		if key == f.Object {
			return key
		}
		if best == "" || strings.HasPrefix(key, "resource:") && !strings.HasPrefix(best, "resource:") {
			best = key
		}
	}
	return best
}
