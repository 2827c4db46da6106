package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/pipeline"
)

// Definitions are inspected when the worker is idle: it takes about as long as building
// their entities, and nothing waits for the result.
const (
	// inspected is the number of units per batch. After a batch, the inspector sleeps for
	// as long as the batch took, but at least for moment.
	inspected = 200
	moment    = 300 * time.Millisecond
	// longest is how long the inspector waits for the worker to become idle.
	longest = time.Minute
	// mostFindings are stored per unit; Explain returns all.
	mostFindings = 200
)

// InspectChanged inspects all units that are due, batch by batch. The queue runs it once at a
// time across all replicas.
func (in *Ingest) InspectChanged(ctx context.Context) error {
	for {
		pause(ctx, moment)
		if err := in.idle(ctx); err != nil {
			return err
		}
		begun := in.Now()
		n, err := in.inspect(ctx)
		if err != nil || n == 0 {
			return err
		}
		pause(ctx, min(in.Now().Sub(begun), longest))
	}
}

// idle waits until no unit is due for the worker, but for at most longest.
func (in *Ingest) idle(ctx context.Context) error {
	for waited := time.Duration(0); waited < longest; waited += moment {
		units, err := in.due(ctx, 1)
		if err != nil || len(units) == 0 {
			return err
		}
		pause(ctx, moment)
	}
	return ctx.Err()
}

// inspect inspects a batch of the units that are due, and returns its size.
func (in *Ingest) inspect(ctx context.Context) (int, error) {
	units, err := in.Mirror.Unchecked(ctx, inspected)
	if err != nil || len(units) == 0 {
		return 0, err
	}
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.Name
	}
	loaded, err := in.load(ctx, names)
	if err != nil {
		return 0, err
	}
	failures, err := in.failing(ctx)
	if err != nil {
		return 0, err
	}
	for unit, why := range failures {
		failures[unit] = strings.TrimPrefix(why, pipeline.Failed)
	}
	conditions, err := in.conditions(ctx)
	if err != nil {
		return 0, err
	}
	s := &unitBatch{Ingest: in, caches: in.caches.none(), asked: true, spared: failures, now: in.Now(), conditions: conditions}
	var found []mirror.Finding
	for _, name := range names {
		more, err := s.inspectOne(ctx, name, loaded[name])
		if err != nil {
			return 0, err
		}
		found = append(found, more...)
		delete(loaded, name)
	}
	return len(units), in.Mirror.Checked(ctx, units, found)
}

// noted is a finding as it is stored.
type noted struct {
	Finding
	// Object names the object it is about, Entity is the reference of the entity built
	// from it; empty if there is none.
	Object string `json:"object,omitempty"`
	Entity string `json:"entity,omitempty"`
}

// inspectOne returns the findings about a unit.
func (s *unitBatch) inspectOne(ctx context.Context, unit string, objects []mirror.Object) (out []mirror.Finding, err error) {
	if len(objects) == 0 {
		return nil, nil
	}
	entities, m := s.judge(ctx, unit, objects)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.findings, func(a, b finding.Finding) int { return int(b.Severity) - int(a.Severity) })
	for _, f := range m.findings[:min(len(m.findings), mostFindings)] {
		body, err := json.Marshal(noted{Finding: findingOf(f), Object: f.Object, Entity: about(entities, f)})
		if err != nil {
			return nil, err
		}
		out = append(out, mirror.Finding{Unit: unit, Severity: int(finding.Error - f.Severity), Rule: f.Rule, Body: body})
	}
	return out, nil
}

// judge calls transform and recovers from a panic.
func (s *unitBatch) judge(ctx context.Context, unit string, objects []mirror.Object) (entities []*entity.Entity, m making) {
	defer func() {
		if p := recover(); p != nil {
			// The worker reports the failure.
			entities, m = nil, making{failed: fmt.Sprint(p)}
		}
	}()
	return s.transform(ctx, unit, objects, s.now)
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
