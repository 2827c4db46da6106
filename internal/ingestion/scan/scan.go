package scan

import (
	"context"
	"sync"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/ingestion/status"
)

// Scan is one reading of a target, either of all of it or of what changed.
type Scan struct {
	*Target
	// Begun is when it started, and Before the stored state of the target at that time.
	Begun  time.Time
	Before status.Status
	// marks are the marks of change detection; nil means none. lost says that they could
	// not be loaded.
	marks map[string]string
	lost  bool

	mu sync.Mutex
	// set and drop are the updates to the marks.
	set  map[string]string
	drop []string
	// Lists are the results of the lists that were read. No list may be read concurrently
	// while it is accessed.
	Lists map[string]Result
	// found counts definitions, dirty the units that changed.
	found, dirty int
	// unreadable are findings about unreadable objects, by list.
	unreadable map[string][]finding.Finding
	errs       []error
	// picks counts the definitions that are selected and that are not.
	picks picks
	// Definers are the definitions that define the kind of a list of composites, by list.
	Definers map[string][]string
	// vanished are known objects that were not found and are not removed yet, removed
	// counts those that were removed, and pending are those that must be confirmed first.
	vanished []Removal
	removed  int
	pending  *status.PendingRemoval
	// Unsettled are files that may be in the middle of a write.
	Unsettled map[string]status.Unsettled
}

// newScan starts a scan. A failure to load marks costs time but never correctness.
func (t *Target) newScan(ctx context.Context) (*Scan, error) {
	s := &Scan{Target: t, Begun: t.Now(), set: map[string]string{}, Lists: map[string]Result{}, unreadable: map[string][]finding.Finding{}}
	all, err := status.Load(ctx, t.Mirror, t.Name)
	if err != nil {
		return nil, err
	}
	s.Before = all[t.Name]
	d := t.Variant.Detection
	if !d.Enabled {
		return s, nil
	}
	if s.lost = s.Begun.Sub(t.away).Abs() < Rest; s.lost {
		return s, nil
	}
	marks, err := d.Marks.Load(ctx, t.Name)
	if err != nil {
		s.lost, t.away = true, s.Begun
		if ctx.Err() == nil && t.Once.Changed(lostMarks+t.Name, "lost") {
			t.Variant.Log.Warn("read of change detection marks failed; all objects are read again", "source", t.Name, "error", err)
		}
		return s, nil
	}
	t.Once.Changed(lostMarks+t.Name, "")
	s.marks = marks
	return s, nil
}

// Rest is how long a store that does not answer is skipped, so that changes need not wait
// for it.
const Rest = 3 * time.Second

// Problems with marks are logged once, even if the error text varies.
const (
	lostMarks    = "marks of "
	unsavedMarks = "saving marks of "
)

// markKey returns the key under which the mark of an object is stored.
func markKey(list, key string) string { return list + "\n" + key }

// Remember sets the marks of a list, and drops those of objects that are gone.
func (s *Scan) Remember(list string, set map[string]string, gone []string) {
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
func (s *Scan) save(ctx context.Context) {
	d := s.Variant.Detection
	if !d.Enabled || s.lost || len(s.set)+len(s.drop) == 0 {
		return
	}
	err := d.Marks.Save(ctx, s.Name, s.set, s.drop)
	switch {
	case err == nil:
		s.Once.Changed(unsavedMarks+s.Name, "")
	case ctx.Err() == nil:
		s.away = s.Begun
		if s.Once.Changed(unsavedMarks+s.Name, "unsaved") {
			s.Variant.Log.Warn("write of change detection marks failed; the next scan reads the objects again", "source", s.Name, "error", err)
		}
	}
}

// Ended records the result of reading a list. An error is not only one of the scan: the
// list is stale from now on.
func (s *Scan) Ended(list string, l Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Lists[list] = l
	if l.Err != nil {
		s.errs = append(s.errs, l.Err)
	}
}

// Mark returns the mark of an object that an earlier scan stored; empty if there is none.
func (s *Scan) Mark(list, key string) string { return s.marks[markKey(list, key)] }

// Sealed appends the hash of the settings to a mark, so that a change of settings
// invalidates it.
func (s *Scan) Sealed(mark string) string { return mark + " " + s.Seal }

// Note stores findings about unreadable objects of a list.
func (s *Scan) Note(list string, fs []finding.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range fs {
		if f.Severity == finding.Error {
			s.unreadable[list] = append(s.unreadable[list], f)
		}
	}
}

// AddFound counts definitions that were found.
func (s *Scan) AddFound(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found += n
}

// Found returns how many definitions were found.
func (s *Scan) Found() int { return s.found }

// AddDirty counts units that changed.
func (s *Scan) AddDirty(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty += n
}

// Dirty returns how many units changed.
func (s *Scan) Dirty() int { return s.dirty }

// Fail adds an error that concerns no list as a whole.
func (s *Scan) Fail(err error) { s.errs = append(s.errs, err) }

// Err returns what could not be read; nil if everything was.
func (s *Scan) Err() error { return joinOnce(s.errs) }
