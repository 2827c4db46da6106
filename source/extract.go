package source

import (
	"context"
	"fmt"
	"iter"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
)

// Walker is a Source that hands out definitions one by one, so that nobody has
// to hold all of them.
type Walker interface {
	// Walk calls yield for each thing it finds, from one goroutine and in order,
	// until yield returns false. The error joins all failures; what could be
	// read has been handed out all the same. It is nil if yield ended the walk,
	// unless something failed before.
	Walk(ctx context.Context, yield func(xrd.Found) bool) error
}

// ExtractOptions say what is extracted, and who is told of the rest. The zero
// value extracts everything.
type ExtractOptions struct {
	// Filter chooses the definitions.
	Filter xrd.Filter
	// Now is the clock for the time of records that bring none of their own. If
	// it is nil, they have none.
	Now func() time.Time
	// Refused, if not nil, is told of each definition that is not chosen, and
	// why; Passed of each object that is no definition.
	Refused func(d *xrd.Definition, why string)
	Passed  func(o *xrd.Object)
	// Remarked, if not nil, is told of what was found that is not an error.
	Remarked func(f finding.Finding)
}

// Extract yields the records of the definitions that a source has, one by one if
// it is a Walker. What cannot be read is yielded as an error in its place, and
// what follows it comes all the same: a *Problem for a document, a *Failure for
// a stream that says that it is not complete, and the source's own errors, each
// by itself, at the end.
func Extract(ctx context.Context, from Source, opts ExtractOptions) iter.Seq2[xrd.Record, error] {
	return func(yield func(xrd.Record, error) bool) {
		stopped := false
		err := Walk(ctx, from, func(f xrd.Found) bool {
			stopped = !opts.extract(f, yield)
			return !stopped
		})
		for _, e := range each(err) {
			if stopped || !yield(xrd.Record{}, e) {
				return
			}
		}
	}
}

// Walk hands out what a source has: one by one if it is a Walker, else after all
// of it has been read. The error is as that of a Walker.
func Walk(ctx context.Context, from Source, yield func(xrd.Found) bool) error {
	if w, ok := from.(Walker); ok {
		return w.Walk(ctx, yield)
	}
	set, err := from.Read(ctx)
	set.Each(yield)
	return err
}

// extract yields what was found, if it is to be, and reports whether more is
// wanted.
func (o *ExtractOptions) extract(f xrd.Found, yield func(xrd.Record, error) bool) bool {
	switch {
	case f.Failed:
		return yield(xrd.Record{}, &Failure{Message: f.Failure})
	case f.Finding != nil && f.Finding.Severity == finding.Error:
		return yield(xrd.Record{}, &Problem{*f.Finding})
	case f.Finding != nil:
		if o.Remarked != nil {
			o.Remarked(*f.Finding)
		}
	case f.Other != nil:
		if o.Passed != nil {
			o.Passed(f.Other)
		}
	case f.Definition != nil:
		if ok, why := o.Filter.Admit(f.Definition); !ok {
			if o.Refused != nil {
				o.Refused(f.Definition, why)
			}
			return true
		}
		if f.Record.Timestamp == "" && o.Now != nil {
			f.Record.Timestamp = o.Now().UTC().Format(time.RFC3339)
		}
		return yield(f.Record, nil)
	}
	return true
}

// Problem is a document that cannot be used.
type Problem struct {
	Finding finding.Finding
}

// Error says where it is and what is wrong with it.
func (p *Problem) Error() string {
	if where := p.Finding.Where(); where != "" {
		return where + ": " + p.Finding.Message
	}
	return p.Finding.Message
}

// Failure is a stream that says itself that it is not complete.
type Failure struct {
	// Message is what whoever wrote it says of why.
	Message string
}

// Error says so.
func (f *Failure) Error() string {
	if f.Message == "" {
		return "the input is not complete"
	}
	return fmt.Sprintf("the input is not complete: %s", f.Message)
}

// each returns the errors that err joins, those inside others included.
func each(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, each(e)...)
	}
	return all
}
