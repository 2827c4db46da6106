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

// folder reads a source without a cluster. It has neither versions nor times of
// objects, so that change detection goes by their content.
type folder struct {
	*Folder
	place *target
	// lost are the keys of Compositions that the last scan left out because
	// another of their name is used. They belong to whoever holds place.busy.
	lost map[string]bool
}

// scan reads the source object by object, and holds no more than a few pages of
// them. A document that cannot be read costs no other its place: what was known
// of its file stays, and is stale.
func (f *folder) scan(ctx context.Context, s *scan) error {
	known, err := f.place.variant.in.Memory.Known(ctx, s.name, listFolder)
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
		// Nothing of it was read.
		l.err = failed
	case failed != nil:
		s.errs = append(s.errs, failed)
	}
	s.ended(listFolder, l)
	return s.remove(ctx)
}

// all reads the source while what was read is stored. failed is what could not be
// read, but for single files, which are in r.bad; err is an error of the memory.
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
		// Whoever stores must not wait for a reader that panicked.
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

// single takes errors about single files and folders for findings, and returns
// the others.
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

// follow has the folder scanned whenever something changed. Every replica notices
// that; one of them scans.
func (f *folder) follow(ctx context.Context) {
	in := f.place.variant.in
	changed := func() { in.again(ctx, f.place) }
	for ctx.Err() == nil {
		err := f.Watch(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		in.warn(f.place.variant.Log, "watch "+f.place.name, "source cannot be watched, so changes wait for the schedule",
			"source", f.place.name, "error", err)
		pause(ctx, f.place.every)
	}
}
