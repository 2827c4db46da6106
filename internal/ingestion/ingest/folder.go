package ingest

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// folder reads a source that is not a cluster. Its objects have neither versions nor
// timestamps, so change detection compares their content.
type folder struct {
	*Folder
	place *target
	// lost contains the keys of Compositions that the last scan left out because another
	// one of the same name is used. Only the holder of place.busy may access it.
	lost map[string]bool
}

// scan reads the source object by object, and holds only a few pages in memory. An
// unreadable document does not affect others: the known objects of its file stay,
// marked stale.
func (f *folder) scan(ctx context.Context, s *scan) error {
	known, err := f.place.variant.in.Mirror.Known(ctx, s.name, listFolder)
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
	s.found = r.found
	s.note(listFolder, r.bad)
	kept, err := r.keep(ctx, failed)
	if err != nil {
		return err
	}
	if failed == nil && len(r.bad) > 0 && len(r.keys) == 0 {
		failed = complaints(fmt.Sprintf("source %q", f.Name), r.bad)
	}
	unsettled, err := r.unsettled(ctx, kept)
	if err != nil {
		return err
	}
	if err := r.conclude(ctx, kept, unsettled); err != nil {
		return err
	}
	l := listed{count: len(r.keys) + len(kept) + len(unsettled), kept: kept}
	switch {
	case failed != nil && len(r.keys) == 0:
		// Nothing of the source was read.
		l.err = failed
	case failed != nil:
		s.errs = append(s.errs, failed)
	}
	s.ended(listFolder, l)
	return s.remove(ctx)
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
		r.complain(finding.Finding{Rule: RuleUnreadable, Severity: finding.Error, File: e.Path, Message: e.Error(), Hint: e.Hint})
	}
	return errors.Join(rest...)
}

// follow requests a scan of the folder on every change. All replicas see the change;
// one of them scans.
func (f *folder) follow(ctx context.Context) {
	in := f.place.variant.in
	changed := func() { in.scanSoon(f.place) }
	for ctx.Err() == nil {
		err := f.Watch(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		in.warn(f.place.variant.Log, "watch "+f.place.name, "watch failed; changes wait for the next scheduled scan",
			"source", f.place.name, "error", err)
		pause(ctx, f.place.every)
	}
}
