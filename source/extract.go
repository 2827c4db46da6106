package source

import (
	"context"
	"fmt"
	"iter"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
)

// Walker is a Source that yields definitions one by one, so that they need not all
// be held in memory.
type Walker interface {
	// Walk calls yield for each object, from one goroutine and in order, until yield
	// returns false. The error joins all failures; objects that could be read have
	// been yielded nonetheless. It is nil if yield ended the walk, unless something
	// failed before.
	Walk(ctx context.Context, yield func(xrd.Found) bool) error
}

// ExtractOptions configure what is extracted, and callbacks for the rest. The zero
// value extracts everything.
type ExtractOptions struct {
	// Filter selects the definitions.
	Filter xrd.Filter
	// Now is the clock for records without a timestamp. If it is nil, they get none.
	Now func() time.Time
	// Refused, if not nil, is called for each definition that is not selected, with
	// the reason; Passed for each object that is not a definition.
	Refused func(d *xrd.Definition, why string)
	Passed  func(o *xrd.Object)
	// Remarked, if not nil, is called for each finding that is not an error.
	Remarked func(f finding.Finding)
}

// Extract yields the records of the definitions of a source, one by one if it is a
// Walker. Failures are yielded as errors in their place, and extraction continues:
// a *Problem for a document, a *Failure for a stream that reports itself
// incomplete, and the source's own errors, one by one, at the end.
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

// Walk yields the objects of a source: one by one if it is a Walker, otherwise
// after reading all of them. The error is that of Walker.Walk.
func Walk(ctx context.Context, from Source, yield func(xrd.Found) bool) error {
	if w, ok := from.(Walker); ok {
		return w.Walk(ctx, yield)
	}
	set, err := from.Read(ctx)
	set.Each(yield)
	return err
}

// extract yields an object, if it is selected, and reports whether to continue.
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

// Problem is the error of a document that cannot be used.
type Problem struct {
	Finding finding.Finding
}

// Error returns the position and the message.
func (p *Problem) Error() string {
	if where := p.Finding.Where(); where != "" {
		return where + ": " + p.Finding.Message
	}
	return p.Finding.Message
}

// Failure is the error of a stream that reports itself incomplete.
type Failure struct {
	// Message is the reason that the writer of the stream gives.
	Message string
}

// Error returns the message.
func (f *Failure) Error() string {
	if f.Message == "" {
		return "the input is not complete"
	}
	return fmt.Sprintf("the input is not complete: %s", f.Message)
}

// each returns the errors that err joins, including nested ones.
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
