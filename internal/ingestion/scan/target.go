// Package scan reads a target into the mirror: it compares what it finds with the marks of
// earlier scans, decides which removals need a confirmation, and stores the state of the
// target. How a cluster or a folder is read is up to the target.
package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/metrics"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/once"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
)

// Services are what all targets use.
type Services struct {
	Mirror  *mirror.Mirror
	Metrics *metrics.Metrics
	Once    *once.Log
	Now     func() time.Time
	// ScanSoon requests a scan of a target, and BuildSoon a build of the dirty units, by
	// any replica.
	ScanSoon  func(*Target)
	BuildSoon func()
	// Reached is called before certain steps. Tests intervene there.
	Reached func(step, detail string)
}

// Target is one source: a cluster or a folder as a variant reads it.
type Target struct {
	status.Target
	*Services
	Variant *variant.Variant
	// Seal is a hash of the settings and of the cluster's URL.
	Seal  string
	Every time.Duration
	// Settle is how long a file must be unchanged before missing objects are removed.
	Settle time.Duration
	// Often says that it is scanned so often that scans without changes are not recorded.
	Often bool
	// Read reads the target. Watch, which may be nil, watches it until ctx ends.
	Read  func(ctx context.Context, s *Scan) error
	Watch func(ctx context.Context)

	// busy is held while the target is read, so that the next reader finds the marks of
	// what was seen.
	busy chan struct{}
	// away is when the marks could last not be loaded or saved; guarded by busy.
	away time.Time
	// heard counts how often a watch found a list to be readable.
	heard atomic.Int64
}

// NewTarget returns a target of a variant, which cannot be read yet.
func NewTarget(services *Services, v *variant.Variant, what status.Target, every time.Duration) *Target {
	return &Target{Target: what, Services: services, Variant: v, Seal: v.Seal, Every: every, busy: make(chan struct{}, 1)}
}

// Heard records that a watch has found a list to be readable.
func (t *Target) Heard() { t.heard.Add(1) }

// Caught keeps a panic while watching a target from ending the process. It is deferred.
func (t *Target) Caught() {
	if v := recover(); v != nil {
		t.Once.Warn(t.Variant.Log, "panic "+t.Name, "watch panicked; changes wait for the next scheduled scan", "source", t.Name, "error", fmt.Sprint(v))
	}
}

// lock waits until no other goroutine reads the target.
func (t *Target) lock(ctx context.Context) error {
	select {
	case t.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Target) unlock() { <-t.busy }

// Update reads a part of the target with read, and stores the marks, but not the state of
// the target.
func (t *Target) Update(ctx context.Context, read func(*Scan) error) error {
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	s, err := t.newScan(ctx)
	if err != nil {
		return err
	}
	err = read(s)
	s.save(ctx)
	return err
}

// Scan reads the target and stores the result. The error is a database error, or says
// that ctx was cancelled or that the scan was superseded. Of two concurrent scans of a
// target, the one that started later wins: the other may be delayed, and what it has
// seen is older.
func (t *Target) Scan(ctx context.Context) (*Scan, error) {
	if err := t.lock(ctx); err != nil {
		return nil, err
	}
	defer t.unlock()
	ctx, err := t.Mirror.Fence(ctx, "scan "+t.Name)
	if err != nil {
		return nil, err
	}
	s, err := t.newScan(ctx)
	if err != nil {
		return nil, err
	}
	heard := t.heard.Load()
	failed := t.Read(ctx, s)
	if errors.Is(ctx.Err(), context.Canceled) {
		// The source did not fail.
		return nil, ctx.Err()
	}
	if err := errors.Join(append(slices.Clone(s.errs), failed)...); errors.Is(err, db.ErrSuperseded) {
		return nil, err
	}
	// Store the result even of a scan that timed out.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), Concluding)
	defer cancel()
	s.save(after)
	err = s.conclude(after, failed)
	if err == nil && len(s.errs) > 0 && t.heard.Load() != heard {
		// What could not be read may have become readable a moment later.
		t.ScanSoon(t)
	}
	return s, err
}

// Concluding is the timeout for storing the result of a scan.
const Concluding = 15 * time.Second

// PageSize is how many objects are read and stored at once: in memory, each takes ten
// times its size.
const PageSize = 200

// Pause sleeps for wait, or until ctx ends.
func Pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
