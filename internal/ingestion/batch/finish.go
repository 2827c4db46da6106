package batch

import (
	"context"
	"fmt"
	"strings"

	"example.dev/ingestor/internal/ingestion/unit"
)

// finish records and logs the results of a group.
func (s *batch) finish(ctx context.Context, g *group) error {
	if g.err != nil {
		return g.err
	}
	for i, w := range g.written {
		s.tally.add(w)
		s.told(g.units[i].Name, g.builds[i], w)
		if w.Removed > 0 {
			s.Release(g.builds[i].Provider)
		}
		if len(w.Refused) == 0 {
			s.finished = append(s.finished, g.units[i])
			continue
		}
		s.restUntil(g.units[i], w.Refused)
	}
	for _, d := range g.made {
		if d.Failed == "" {
			continue
		}
		s.tally.Failed++
		s.tally.Refs.add(Changes{Failed: []string{d.Unit.Name}})
		if !s.retried(d) {
			s.finished = append(s.finished, d.Unit)
		}
	}
	s.tally.Units += len(g.made)
	s.tally.Write += g.took
	s.Metrics.Phase("write", g.took)
	if len(s.finished) < mostFinished {
		return nil
	}
	return s.tidyUp(ctx)
}

// mostFinished is how many units are taken off the agenda at once. If the process dies
// before, they are processed again without a difference.
const mostFinished = 1000

// tidyUp takes finished units off the agenda.
func (s *batch) tidyUp(ctx context.Context) error {
	begun := s.Now()
	err := s.Mirror.Done(ctx, s.finished)
	s.finished = s.finished[:0]
	took := s.Now().Sub(begun)
	s.tally.Write += took
	s.Metrics.Phase("write", took)
	return err
}

// told logs the result of a unit, one line per change, and clears its failures.
func (s *batch) told(unit string, o unit.Build, w Written) {
	s.Processor.mu.Lock()
	delete(s.tries, unit)
	delete(s.resting, unit)
	s.Processor.mu.Unlock()
	delete(s.failures, unit)
	s.Once.Changed("unit "+unit, "")
	if w.Added+w.Updated+w.Removed > 0 {
		s.Log.Info("catalog changed", "unit", unit, "added", w.Added, "updated", w.Updated, "removed", w.Removed)
	}
	refs := make([]string, 0, len(w.Refused))
	for _, r := range w.Refused {
		refs = append(refs, fmt.Sprintf("%s (owned by %s)", r.Ref, r.Owner))
	}
	if text := strings.Join(refs, ", "); s.Once.Changed("refused "+unit, text) && text != "" {
		s.Log.Warn("entities skipped: owned by another provider", "unit", unit, "entities", text)
		s.Metrics.Failed("", "conflict")
	}
	s.Metrics.Built(len(o.Entities))
}

// retried reports whether a failed unit is retried, and schedules the retry. Its
// entities stay as they were.
func (s *batch) retried(d unit.Built) bool {
	s.Processor.mu.Lock()
	s.tries[d.Unit.Name]++
	tries := s.tries[d.Unit.Name]
	s.Processor.mu.Unlock()
	s.failures[d.Unit.Name] = d.Failed
	s.Once.Warn(s.Log, "unit "+d.Unit.Name, "unit build failed; its entities in the catalog are kept", "unit", d.Unit.Name, "error", d.Failed)
	s.Metrics.Failed("", "transform")
	if tries > s.Processing.RetryAttempts {
		s.Processor.mu.Lock()
		delete(s.tries, d.Unit.Name)
		s.Processor.mu.Unlock()
		return false
	}
	s.restFor(d.Unit, s.Processing.RetryDelay)
	return true
}
