package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/tree"
)

// scan is one reading of a place, wholly or of what changed.
type scan struct {
	*place
	now time.Time
	// before is what is remembered of the place.
	before condition
	// marks are those that change detection remembers; nil means none.
	marks map[string]string

	mu sync.Mutex
	// set and drop are what is to be remembered instead.
	set  map[string]string
	drop []string
	// lists are the lists that were read, and how that went.
	lists map[string]listed
	// found counts definitions, dirty the units that changed.
	found, dirty int
	findings     []finding.Finding
	errs         []error
}

// listed is how reading a list went.
type listed struct {
	count   int
	version int64
	err     error
}

// newScan begins a reading. That marks cannot be had costs time, not truth.
func (p *place) newScan(ctx context.Context) (*scan, error) {
	s := &scan{place: p, now: p.part.in.Now(), set: map[string]string{}, lists: map[string]listed{}}
	all, err := p.part.in.conditions(ctx)
	if err != nil {
		return nil, err
	}
	s.before = all[p.name]
	d := p.part.Detection
	if !d.Enabled {
		return s, nil
	}
	marks, err := d.Marks.Load(ctx, p.name)
	if err != nil {
		p.part.in.warn(p.part.Log, "marks "+p.name, "change detection has lost its memory, so everything is looked at again",
			"source", p.name, "error", err)
		return s, nil
	}
	p.part.in.news("marks "+p.name, "")
	s.marks = marks
	return s, nil
}

// markKey is what the mark of an object is remembered under.
func markKey(list, key string) string { return list + "\n" + key }

// remember sets the marks of a list, and drops those of objects that are no
// longer there.
func (s *scan) remember(list string, set map[string]string, gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, mark := range set {
		if mark != s.marks[markKey(list, key)] {
			s.set[markKey(list, key)] = mark
		}
	}
	for _, key := range gone {
		if k := markKey(list, key); s.marks[k] != "" {
			s.drop = append(s.drop, k)
		}
	}
}

// save hands the marks to change detection.
func (s *scan) save(ctx context.Context) {
	d := s.part.Detection
	if !d.Enabled || len(s.set)+len(s.drop) == 0 {
		return
	}
	if err := d.Marks.Save(ctx, s.name, s.set, s.drop); err != nil && ctx.Err() == nil {
		s.part.in.warn(s.part.Log, "marks "+s.name, "cannot remember what was seen, so it is looked at again next time",
			"source", s.name, "error", err)
	}
}

// ended notes how reading a list went. What cannot be read is not an error of
// the scan alone: the list is stale from now on.
func (s *scan) ended(list string, l listed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[list] = l
	if l.err != nil {
		s.errs = append(s.errs, l.err)
	}
}

// condition is what is remembered of a place between scans.
type condition struct {
	// Tried is when it was last read, Good when that last went well.
	Tried time.Time `json:"tried"`
	Good  time.Time `json:"good,omitzero"`
	// Error is what went wrong last time.
	Error string `json:"error,omitempty"`
	// Reason is a word for it: unreachable, forbidden and so on.
	Reason string                   `json:"reason,omitempty"`
	Lists  map[string]listCondition `json:"lists,omitempty"`
}

// listCondition is what is remembered of a list.
type listCondition struct {
	Count   int    `json:"count"`
	Version int64  `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
	// Stale is since when it is not known what is in it; zero if it is known.
	Stale time.Time `json:"stale,omitzero"`
	// Good is when it was last read.
	Good time.Time `json:"good,omitzero"`
}

// conditions returns those of all places that were ever read.
func (in *Ingest) conditions(ctx context.Context) (map[string]condition, error) {
	states, err := in.Memory.SourceStates(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]condition, len(states))
	for name, data := range states {
		if strings.HasPrefix(name, notSource) {
			continue
		}
		var c condition
		if err := json.Unmarshal(data, &c); err != nil {
			return nil, fmt.Errorf("cannot read the state of source %q: %w", name, err)
		}
		out[name] = c
	}
	return out, nil
}

// conclude brings what is remembered of the place up to date after a scan, and
// has the entities of lists that became stale, or are no longer, made anew.
func (s *scan) conclude(ctx context.Context, whole error) error {
	before := s.before
	after := condition{Tried: s.now, Good: before.Good, Lists: map[string]listCondition{}}
	if whole != nil {
		// It was not even found out which lists there are.
		known, err := s.part.in.Memory.Lists(ctx, s.name)
		if err != nil {
			return err
		}
		for _, list := range slices.Concat(known, slices.Collect(maps.Keys(before.Lists))) {
			if _, ok := s.lists[list]; !ok {
				s.lists[list] = listed{err: whole, count: before.Lists[list].Count}
			}
		}
		s.errs = append(s.errs, whole)
	}
	for list, l := range s.lists {
		was := before.Lists[list]
		now := listCondition{Count: l.count, Version: l.version, Good: s.now}
		if l.err != nil {
			now = listCondition{Count: was.Count, Version: was.Version, Good: was.Good, Error: l.err.Error(), Stale: was.Stale}
			if now.Stale.IsZero() {
				now.Stale = was.Good
			}
			if now.Stale.IsZero() {
				now.Stale = s.now
			}
		}
		after.Lists[list] = now
		if was.Stale.IsZero() != now.Stale.IsZero() && (now.Count > 0 || was.Count > 0) {
			if _, err := s.part.in.Memory.TouchSource(ctx, s.name, list); err != nil {
				return err
			}
		}
	}
	joined := joinOnce(s.errs)
	if joined == nil {
		after.Good = s.now
	} else {
		after.Error, after.Reason = joined.Error(), reason(joined)
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	s.tell(joined)
	return s.part.in.Memory.SetSource(ctx, s.name, data)
}

// tell logs how the scan went, once for every change of that.
func (s *scan) tell(err error) {
	in := s.part.in
	if err != nil {
		in.warn(s.part.Log, "scan "+s.name, "source cannot be read, wholly or in part; what is known of it stays",
			"source", s.name, "error", err.Error())
		return
	}
	if in.news("scan "+s.name, "") {
		s.part.Log.Info("source can be read again", "source", s.name)
	}
}

// warn logs a warning once, until something else is to be said about it.
func (in *Ingest) warn(log interface {
	Warn(msg string, args ...any)
}, about, message string, args ...any) {
	if in.news(about, message+fmt.Sprint(args...)) {
		log.Warn(message, args...)
	}
}

// joinOnce joins errors, each text once.
func joinOnce(errs []error) error {
	seen := map[string]bool{}
	var out []error
	for _, err := range errs {
		if !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	slices.SortFunc(out, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(out...)
}

// reason is a word for what went wrong.
func reason(err error) string {
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return string(e.Reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return string(cluster.Timeout)
	}
	return "failed"
}

// metadata returns an object that has no more than its metadata.
func metadata(item cluster.Item) *tree.Node {
	return tree.Obj(tree.F("metadata", tree.Obj(
		tree.F("name", tree.Str(item.Name)),
		tree.F("labels", tree.StrMap(item.Labels)),
		tree.F("annotations", tree.StrMap(item.Annotations)),
	)))
}

// cut splits the name of a definition into plural and group.
func cut(name string) (plural, group string, ok bool) { return strings.Cut(name, ".") }
