// Package folder reads and watches sources that are not clusters: folders of files and
// repositories.
package folder

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// folder reads a source that is not a cluster. Its objects have neither versions nor
// timestamps, so change detection compares their content.
type folder struct {
	*variant.Folder
	target *scan.Target
	// lost contains the keys of Compositions that the last scan left out because another
	// one of the same name is used. Only one scan at a time accesses it.
	lost map[string]bool
}

// Attach lets a target read and watch a folder.
func Attach(t *scan.Target, of *variant.Folder) {
	f := &folder{Folder: of, target: t}
	t.Settle, t.Read = f.Settle, f.read
	if f.Watch != nil {
		t.Watch = f.watch
	}
}

// read reads the source object by object, and holds only a few pages in memory. An
// unreadable document does not affect others: the known objects of its file stay,
// marked stale.
func (f *folder) read(ctx context.Context, s *scan.Scan) error {
	known, err := f.target.Mirror.Known(ctx, s.Name, object.ListFolder)
	if err != nil {
		return err
	}
	r := newReading(f, s, known)
	failed, err := r.all(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	s.AddFound(r.found)
	s.Note(object.ListFolder, r.bad)
	kept, err := r.keep(ctx, failed)
	if err != nil {
		return err
	}
	if failed == nil && len(r.bad) > 0 && len(r.keys) == 0 {
		failed = status.Unreadable(fmt.Sprintf("source %q", f.Name), r.bad)
	}
	unsettled, err := r.unsettled(ctx, kept)
	if err != nil {
		return err
	}
	if err := r.conclude(ctx, kept, unsettled); err != nil {
		return err
	}
	l := scan.Result{Count: len(r.keys) + len(kept) + len(unsettled), Kept: kept}
	switch {
	case failed != nil && len(r.keys) == 0:
		// Nothing of the source was read.
		l.Err = failed
	case failed != nil:
		s.Fail(failed)
	}
	s.Ended(object.ListFolder, l)
	return s.Remove(ctx)
}

// all reads the source and stores the pages concurrently. failed is what could not be
// read, except for single files, which are in r.bad; err is a database error.
func (r *reading) all(ctx context.Context) (failed, err error) {
	storing, stored := errgroup.WithContext(ctx)
	storing.Go(func() error {
		for page := range r.pages {
			if err := r.store(stored, page); err != nil {
				return err
			}
		}
		return nil
	})
	hand := func(page []mirror.Object) bool {
		select {
		case r.pages <- page:
			return true
		case <-stored.Done():
			return false
		}
	}
	failed = func() error {
		// The storing goroutine must not wait for a reader that panicked.
		defer close(r.pages)
		err := source.Walk(ctx, r.Source, func(f xrd.Found) bool { return r.take(f, hand) })
		r.follow(nil)
		if r.deferredWinners(); len(r.page) > 0 {
			hand(r.page)
		}
		return r.single(err)
	}()
	return failed, storing.Wait()
}

// single turns errors about single files and folders into findings, and returns the
// other errors.
func (r *reading) single(err error) error {
	if err == nil {
		return nil
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var rest []error
	for _, err := range all {
		e, ok := errors.AsType[*file.Error](err)
		if !ok {
			rest = append(rest, err)
			continue
		}
		r.complain(finding.Finding{Rule: status.RuleUnreadable, Severity: finding.Error, File: e.Path, Message: e.Error(), Hint: e.Hint})
	}
	return errors.Join(rest...)
}

// watch requests a scan of the folder on every change. All replicas see the change;
// one of them scans.
func (f *folder) watch(ctx context.Context) {
	t := f.target
	changed := func() { t.ScanSoon(t) }
	for ctx.Err() == nil {
		err := f.Watch(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		t.Once.Warn(t.Variant.Log, "watch "+t.Name, "watch failed; changes wait for the next scheduled scan",
			"source", t.Name, "error", err)
		scan.Pause(ctx, t.Every)
	}
}
