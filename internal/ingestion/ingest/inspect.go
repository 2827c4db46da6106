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

// What is wrong with definitions is found out when nothing else is to be done:
// it takes about as long as making their entities, and nobody waits for it.
const (
	// inspected units are looked at together, and then it rests for as long as
	// that took, or for a moment if that was less.
	inspected = 200
	moment    = 300 * time.Millisecond
	// longest is how long it waits for the worker to have nothing to do.
	longest = time.Minute
	// mostFindings are remembered of a unit; explain has all.
	mostFindings = 200
)

// theInspection is what one replica does at a time.
const theInspection = "inspect"

// inspectLoop looks at units that have changed.
func (in *Ingest) inspectLoop(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.look:
		case <-tick.C:
		}
		err := in.inspectAll(ctx)
		if err != nil && ctx.Err() == nil {
			in.warn(in.Log, "inspect", "cannot find out what is wrong with definitions; it is tried again", "error", err)
			continue
		}
		in.news("inspect", "")
	}
}

// inspectAll looks at all units that are to be looked at, some at a time.
func (in *Ingest) inspectAll(ctx context.Context) error {
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

// idle waits until no unit is to be worked on, but not for ever.
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

// inspect looks at some of the units that are to be looked at, and returns how
// many there were.
func (in *Ingest) inspect(ctx context.Context) (n int, err error) {
	units, err := in.Memory.Unchecked(ctx, 1)
	if err != nil || len(units) == 0 {
		return 0, err
	}
	err = in.Memory.WithLock(ctx, theInspection, func(ctx context.Context) error {
		units, err := in.Memory.Unchecked(ctx, inspected)
		if err != nil {
			return err
		}
		n = len(units)
		names := make([]string, n)
		for i, u := range units {
			names[i] = u.Name
		}
		loaded, err := in.load(ctx, names)
		if err != nil {
			return err
		}
		failures, err := in.failing(ctx)
		if err != nil {
			return err
		}
		for unit, why := range failures {
			failures[unit] = strings.TrimPrefix(why, pipeline.Failed)
		}
		conditions, err := in.conditions(ctx)
		if err != nil {
			return err
		}
		s := &unitBatch{Ingest: in, caches: in.caches.none(), asked: true, spared: failures, now: in.Now(), conditions: conditions}
		var found []mirror.Finding
		for _, name := range names {
			more, err := s.inspectOne(ctx, name, loaded[name])
			if err != nil {
				return err
			}
			found = append(found, more...)
			delete(loaded, name)
		}
		return in.Memory.Checked(ctx, units, found)
	})
	return n, err
}

// noted is what is remembered of a finding.
type noted struct {
	Finding
	// Object names what it is about, Entity is the reference of what was made of
	// it; empty if nothing was.
	Object string `json:"object,omitempty"`
	Entity string `json:"entity,omitempty"`
}

// inspectOne returns what is worth knowing about a unit.
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

// judge is transform for a unit that may break it.
func (s *unitBatch) judge(ctx context.Context, unit string, objects []mirror.Object) (entities []*entity.Entity, m making) {
	defer func() {
		if p := recover(); p != nil {
			// Whoever makes its entities says so.
			entities, m = nil, making{failed: fmt.Sprint(p)}
		}
	}()
	return s.transform(ctx, unit, objects, s.now)
}

// about is the reference of the entity that a finding is about: the one it
// names, or that of the definition itself.
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
