// Package file reads definitions from files, directories and standard input.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// Stdin is the path that stands for standard input, and StdinName what it is
// called in findings and locations.
const (
	Stdin     = "-"
	StdinName = "<stdin>"
)

// Options are what a Source does beyond reading the files it is given.
type Options struct {
	// Recursive looks below directories, not only into them.
	Recursive bool
	// Patterns takes a path that does not exist for a source.Pattern, if it
	// looks like one. What it chooses is read as if it was named: directories,
	// files that end as it says, and, if it does not say, those that would be
	// read in a directory.
	Patterns bool
	// FollowSymlinks follows links met inside directories. A link that is
	// named outright is followed always.
	FollowSymlinks bool
	// Within, if not empty, is a folder that links met inside directories may
	// not lead out of; those that do are passed over.
	Within string
	// Stdin is what the path "-" reads. Nil means there is none.
	Stdin io.Reader
	// Parallelism is how many files are read at once. Zero means one for each
	// processor.
	Parallelism int
	// Settle is how long nothing may change before Watch speaks of a change.
	// Zero means DefaultSettle.
	Settle time.Duration
	// Skipped, if not nil, is told of what was passed over, and why.
	Skipped func(path, why string)
	// Spill, if not nil, is given what Read reads; see xrd.Set.
	Spill xrd.Spill
	// Progress, if not nil, is told how many of the files have been read.
	Progress func(done, total int)
}

// Source reads files.
type Source struct {
	paths []string
	opts  Options
	// last is what the files were like when they were read last.
	last atomic.Pointer[map[string]stamp]
}

var _ source.Source = (*Source)(nil)

// New returns a Source of the files at paths: files of any name, directories,
// of which files ending in .yaml, .yml and .json are read, and "-".
func New(paths []string, opts Options) *Source {
	if opts.Parallelism <= 0 {
		opts.Parallelism = runtime.NumCPU()
	}
	if opts.Settle <= 0 {
		opts.Settle = DefaultSettle
	}
	return &Source{paths: paths, opts: opts}
}

// Read reads all files. What it returns is in the order of their paths,
// whatever the order of the arguments, and each file is read once, however
// many ways lead to it. Skipped and Progress are called from the calling
// goroutine. When ctx ends, Read returns at once with what it has; a file that
// keeps it waiting, such as a pipe nobody writes to, is left behind.
func (s *Source) Read(ctx context.Context) (*xrd.Set, error) {
	found := s.find(ctx)
	if ctx.Err() == nil {
		s.last.Store(&found.infos)
	}
	results := make([]result, len(found.files))
	for r := range s.readAll(ctx, found.files) {
		if r.panicked != "" {
			// Whoever called Read decides what a bug does to the process.
			panic(r.panicked)
		}
		results[r.index] = r
	}
	set := &xrd.Set{}
	errs := found.errs
	for _, r := range results {
		if r.set != nil {
			set.Join(r.set)
		}
		if r.err != nil {
			errs = append(errs, r.err)
		}
	}
	if ctx.Err() != nil {
		errs = append(errs, fmt.Errorf("cannot read all files: %w", context.Cause(ctx)))
	}
	return set, errors.Join(errs...)
}

// Files returns the paths of the files that Read would read, in order, for
// those who look for something else in them. The error joins what could not be
// looked into; each is an *Error.
func (s *Source) Files(ctx context.Context) ([]string, error) {
	found := s.find(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.last.Store(&found.infos)
	return found.files, errors.Join(found.errs...)
}

// result is what was read from the file at index; the zero result is a file
// that was not read.
type result struct {
	index    int
	set      *xrd.Set
	err      error
	panicked string
}

// readAll reads the files at once, as far as Options allow, and yields each as
// it is ready, until ctx ends.
func (s *Source) readAll(ctx context.Context, files []string) func(yield func(result) bool) {
	return func(yield func(result) bool) {
		// Both channels hold everything, so that no worker waits for a Read
		// that has returned.
		next, done := make(chan int, len(files)), make(chan result, len(files))
		for i := range files {
			next <- i
		}
		close(next)
		for range min(s.opts.Parallelism, len(files)) {
			go func() {
				for i := range next {
					if ctx.Err() != nil {
						return
					}
					done <- s.read(ctx, i, files[i])
				}
			}()
		}
		for n := range files {
			select {
			case <-ctx.Done():
				return
			case r := <-done:
				if !yield(r) {
					return
				}
				if s.opts.Progress != nil {
					s.opts.Progress(n+1, len(files))
				}
			}
		}
	}
}

// read reads one file.
func (s *Source) read(ctx context.Context, index int, path string) (r result) {
	r = result{index: index, set: &xrd.Set{Spill: s.opts.Spill}}
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Sprintf("cannot read %q: %v\n%s", path, p, debug.Stack())
		}
	}()
	in, err := s.open(path)
	if err != nil {
		r.err = newError(path, err)
		return r
	}
	defer in.Close()
	err = r.set.Read(reader{ctx, in}, origin(path))
	if err != nil && ctx.Err() != nil {
		// A file that was cut short is not one that cannot be read.
		return result{index: index}
	}
	if err != nil {
		r.err = newError(path, err)
	}
	return r
}

// origin says where the objects of a file come from. Standard input has no
// place that could be pointed at later.
func origin(path string) xrd.Origin {
	o := xrd.Origin{Source: xrd.SourceFile, File: path}
	if path == StdinName {
		o.Location = "file:stdin"
	}
	return o
}

func (s *Source) open(path string) (io.ReadCloser, error) {
	if path == StdinName {
		return io.NopCloser(s.opts.Stdin), nil
	}
	return os.Open(path)
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	in  io.Reader
}

// Read reads from the file unless the context has ended.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
