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

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// scan is one reading of a target, either of all of it or of what changed.
type scan struct {
	*target
	now time.Time
	// before is the stored state of the target.
	before condition
	// marks are the marks of change detection; nil means none. lost says that they could
	// not be loaded.
	marks map[string]string
	lost  bool

	mu sync.Mutex
	// set and drop are the updates to the marks.
	set  map[string]string
	drop []string
	// lists are the results of the lists that were read.
	lists map[string]listed
	// found counts definitions, dirty the units that changed.
	found, dirty int
	// spoilt are findings about unreadable objects, by list.
	spoilt map[string][]finding.Finding
	errs   []error
	// picks counts the definitions that are selected and that are not.
	picks picks
	// givers are the definitions that define the kind of a list of composites, by list.
	givers map[string][]string
	// vanished are known objects that were not found and are not removed yet, removed
	// counts those that were removed, and pending are those that must be confirmed first.
	vanished []removal
	removed  int
	pending  *PendingRemoval
	// unsettled are files that may be in the middle of a write.
	unsettled map[string]unsettledFile
	// silent is the error after which the target receives no more requests; nil while it
	// answers.
	silent error
}

// listed is the result of reading a list.
type listed struct {
	count   int
	version int64
	err     error
	// kept are objects that could not be read, unlike others of the list, and stay as they
	// were: their units by key.
	kept map[string]string
	// untracked is why the list is not read, which is not an error; empty if it is read.
	untracked string
	// unserved says that the cluster does not serve the list's kind.
	unserved bool
}

// newScan starts a scan. A failure to load marks costs time but never correctness.
func (p *target) newScan(ctx context.Context) (*scan, error) {
	s := &scan{target: p, now: p.variant.in.Now(), set: map[string]string{}, lists: map[string]listed{}, spoilt: map[string][]finding.Finding{}}
	all, err := p.variant.in.conditions(ctx, p.name)
	if err != nil {
		return nil, err
	}
	s.before = all[p.name]
	d := p.variant.Detection
	if !d.Enabled {
		return s, nil
	}
	if s.lost = s.now.Sub(p.away).Abs() < resting; s.lost {
		return s, nil
	}
	marks, err := d.Marks.Load(ctx, p.name)
	if err != nil {
		s.lost, p.away = true, s.now
		if ctx.Err() == nil && p.variant.in.news(lostMarks+p.name, "lost") {
			p.variant.Log.Warn("read of change detection marks failed; all objects are read again", "source", p.name, "error", err)
		}
		return s, nil
	}
	p.variant.in.news(lostMarks+p.name, "")
	s.marks = marks
	return s, nil
}

// resting is how long a store that does not answer is skipped, so that changes need not
// wait for it.
const resting = 3 * time.Second

// Problems with marks are logged once, even if the error text varies.
const (
	lostMarks    = "marks of "
	unsavedMarks = "saving marks of "
)

// markKey returns the key under which the mark of an object is stored.
func markKey(list, key string) string { return list + "\n" + key }

// remember sets the marks of a list, and drops those of objects that are gone.
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

// save stores the marks.
func (s *scan) save(ctx context.Context) {
	d := s.variant.Detection
	if !d.Enabled || s.lost || len(s.set)+len(s.drop) == 0 {
		return
	}
	err := d.Marks.Save(ctx, s.name, s.set, s.drop)
	switch {
	case err == nil:
		s.variant.in.news(unsavedMarks+s.name, "")
	case ctx.Err() == nil:
		s.away = s.now
		if s.variant.in.news(unsavedMarks+s.name, "unsaved") {
			s.variant.Log.Warn("write of change detection marks failed; the next scan reads the objects again", "source", s.name, "error", err)
		}
	}
}

// ended records the result of reading a list. An error is not only one of the scan: the
// list is stale from now on.
func (s *scan) ended(list string, l listed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[list] = l
	if l.err != nil {
		s.errs = append(s.errs, l.err)
	}
}

// condition is the stored state of a target between scans.
type condition struct {
	// Tried is when it was last read, Good when that last succeeded.
	Tried time.Time `json:"tried"`
	Good  time.Time `json:"good,omitzero"`
	// Error is the error of the last scan.
	Error string `json:"error,omitempty"`
	// Reason classifies the error: unreachable, forbidden and so on. Hint is how to fix
	// it.
	Reason string                   `json:"reason,omitempty"`
	Hint   string                   `json:"hint,omitempty"`
	Lists  map[string]listCondition `json:"lists,omitempty"`
	// Problems are the unreadable objects and files, the first mostProblems of
	// ProblemCount.
	Problems     []Problem `json:"problems,omitempty"`
	ProblemCount int       `json:"problemCount,omitempty"`
	// Selection says how many definitions are selected; nil if that is unknown.
	Selection *Selection `json:"selection,omitempty"`
	// Pending is a mass removal that is not confirmed yet; nil if there is none.
	Pending *PendingRemoval `json:"pending,omitempty"`
	// Unsettled are files that have lost objects recently.
	Unsettled map[string]unsettledFile `json:"unsettled,omitempty"`
}

// listCondition is the stored state of a list.
type listCondition struct {
	Count   int    `json:"count"`
	Version int64  `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
	// Stale is since when its content is unknown; zero if it is known.
	Stale time.Time `json:"stale,omitzero"`
	// Good is when it was last read successfully.
	Good time.Time `json:"good,omitzero"`
	// Spoilt counts its unreadable objects.
	Spoilt int `json:"spoilt,omitempty"`
	// Kept are objects that could not be read, unlike others of the list, by key.
	Kept map[string]keptObject `json:"kept,omitempty"`
	// Untracked is why the list is not read, which is not an error; empty if it is read.
	Untracked string `json:"untracked,omitempty"`
	// Unserved says that the cluster does not serve the list's kind.
	Unserved bool `json:"unserved,omitempty"`
}

// keptObject is an object that stays as it was last read.
type keptObject struct {
	// Since is when it was last read.
	Since time.Time `json:"since"`
	Unit  string    `json:"unit,omitempty"`
}

// conditions returns the states of the named targets, or of all that were ever read.
func (in *Ingest) conditions(ctx context.Context, names ...string) (map[string]condition, error) {
	states, err := in.Mirror.SourceStates(ctx, names...)
	if err != nil {
		return nil, err
	}
	return readConditions(states)
}

// readConditions decodes the stored states of targets.
func readConditions(states map[string][]byte) (map[string]condition, error) {
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

// conclude updates the stored state of the target after a scan, and marks the units
// dirty whose lists became stale or fresh.
func (s *scan) conclude(ctx context.Context, whole error) error {
	before := s.before
	after := condition{Tried: s.now, Good: before.Good, Lists: map[string]listCondition{}}
	if whole != nil {
		// The scan could not even find out which lists there are.
		known, err := s.variant.in.Mirror.Lists(ctx, s.name)
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
	var turned, units []string
	for _, list := range slices.Sorted(maps.Keys(s.lists)) {
		l, was := s.lists[list], before.Lists[list]
		bad := s.spoilt[list]
		after.complain(list, bad)
		if len(bad) > 0 && l.err == nil {
			s.errs = append(s.errs, complaints(list, bad))
		}
		now := l.condition(was, s.now, len(bad))
		after.Lists[list] = now
		more, all := was.turned(now)
		units = append(units, more...)
		if was.Unserved != now.Unserved {
			units = append(units, s.givers[list]...)
		}
		if all {
			turned = append(turned, list)
		}
	}
	if after.Selection = s.variant.selection(&s.picks); whole != nil {
		after.Selection = before.Selection
	}
	after.Unsettled = s.unsettled
	if after.Pending = s.pending; s.pending == nil && len(s.errs) > 0 {
		// A failed scan says nothing about the pending removal.
		after.Pending = before.Pending
	}
	joined := joinOnce(s.errs)
	if joined == nil {
		after.Good = s.now
	} else {
		after.Error, after.Reason, after.Hint = joined.Error(), reason(joined), hint(joined)
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	s.tell(joined)
	s.tellPending(after.Pending)
	s.tellSelection(after.Selection)
	s.variant.in.reached("settle", s.name)
	return s.variant.in.Mirror.Settle(ctx, s.name, data, turned, units)
}

// tell logs the result of the scan whenever it changes.
func (s *scan) tell(err error) {
	in := s.variant.in
	if err != nil {
		in.warn(s.variant.Log, "scan "+s.name, "source scan failed or incomplete; last known objects are kept",
			"source", s.name, "error", err.Error(), "hint", hint(err))
		return
	}
	if in.news("scan "+s.name, "") {
		s.variant.Log.Info("source scan recovered", "source", s.name)
	}
}

// tellPending logs a mass removal that is not confirmed yet, once.
func (s *scan) tellPending(p *PendingRemoval) {
	in, about := s.variant.in, "pending "+s.name
	if p == nil {
		in.news(about, "")
		return
	}
	in.warn(s.variant.Log, about, "mass removal pending; entities stay until it is confirmed",
		"source", s.name, "objects", p.Objects, "of", p.Of, "since", p.Since, "until", p.Until, "hint", pendingHint)
}

// warn logs a warning once, until the warning about the same subject changes.
func (in *Ingest) warn(log interface {
	Warn(msg string, args ...any)
}, about, message string, args ...any) {
	if in.news(about, message+fmt.Sprint(args...)) {
		log.Warn(message, args...)
	}
}

// joinOnce joins errors without duplicates, by text.
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

// reason classifies an error in one word.
func reason(err error) string {
	if e, ok := errors.AsType[*cluster.Error](err); ok && e.Reason != cluster.Canceled {
		return string(e.Reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return string(cluster.Timeout)
	}
	return failedReason
}

// failedReason is the reason of errors that have no better one.
const failedReason = "failed"

// hint returns how to fix an error; empty if that is unknown.
func hint(err error) string {
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return e.Hint
	}
	return ""
}

// metadata returns an object that has only metadata.
func metadata(item cluster.Item) *tree.Node {
	return tree.Obj(tree.F("metadata", tree.Obj(
		tree.F("name", tree.Str(item.Name)),
		tree.F("labels", tree.StrMap(item.Labels)),
		tree.F("annotations", tree.StrMap(item.Annotations)),
	)))
}

// cut splits the name of a definition into plural and group.
func cut(name string) (plural, group string, ok bool) { return strings.Cut(name, ".") }
