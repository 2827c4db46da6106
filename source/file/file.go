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

// Stdin is the path for standard input, and StdinName its name in findings and
// locations.
const (
	Stdin     = "-"
	StdinName = "<stdin>"
)

// Options configure what a Source does in addition to reading the given files.
type Options struct {
	// Recursive also reads subdirectories.
	Recursive bool
	// Patterns treats a path that does not exist as a source.Pattern, if it looks like
	// one. Its matches are read as if they were named: directories, files with the
	// extension in the pattern, and, if it has none, those that would be read in a
	// directory.
	Patterns bool
	// FollowSymlinks follows links inside directories. A link that is named explicitly
	// is always followed.
	FollowSymlinks bool
	// Within, if not empty, is a folder that links inside directories must not lead out
	// of; those that do are skipped.
	Within string
	// WorkTree, if not empty, is the root of a Git work tree that is compared with a commit.
	// Links inside directories are followed as source/git follows those of a commit: if their
	// targets are relative and inside the work tree, but not in .git. Others are skipped,
	// whatever FollowSymlinks says.
	WorkTree string
	// Stdin is what the path "-" reads. Nil means there is none.
	Stdin io.Reader
	// Parallelism is how many files are read concurrently. Zero means one per processor.
	Parallelism int
	// Settle is how long there must be no change before Watch reports changes. Zero
	// means DefaultSettle.
	Settle time.Duration
	// Skipped, if not nil, receives what was skipped, and why.
	Skipped func(path, why string)
	// Spill, if not nil, receives what Read reads; see xrd.Set.
	Spill xrd.Spill
	// Progress, if not nil, receives how many of the files have been read.
	Progress func(done, total int)
}

// Source reads files.
type Source struct {
	paths []string
	opts  Options
	// last are the stamps of the files when they were last read.
	last atomic.Pointer[map[string]stamp]
}

var _ source.Source = (*Source)(nil)

// New returns a Source of the files at paths: files of any name, directories, of
// which files ending in .yaml, .yml and .json are read, and "-".
func New(paths []string, opts Options) *Source {
	if opts.Parallelism <= 0 {
		opts.Parallelism = runtime.NumCPU()
	}
	if opts.Settle <= 0 {
		opts.Settle = DefaultSettle
	}
	return &Source{paths: paths, opts: opts}
}

// Read reads all files. The result is in the order of their paths, whatever the order
// of the arguments, and each file is read once, however many paths lead to it.
// Skipped and Progress are called from the calling goroutine. When ctx ends, Read
// returns at once with what it has; a read that blocks, such as of a pipe without a
// writer, is abandoned.
func (s *Source) Read(ctx context.Context) (*xrd.Set, error) {
	found := s.find(ctx)
	if ctx.Err() == nil {
		s.last.Store(&found.infos)
	}
	results := make([]result, len(found.files))
	for r := range s.readAll(ctx, found.files) {
		if r.panicked != "" {
			// The caller of Read decides what a bug does to the process.
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

// Files returns the paths of the files that Read would read, in order, for callers
// that look for something else in them. The error joins an *Error for everything that
// could not be examined.
func (s *Source) Files(ctx context.Context) ([]string, error) {
	found := s.find(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.last.Store(&found.infos)
	return found.files, errors.Join(found.errs...)
}

// result is what was read from the file at index; the zero result is a file that was
// not read.
type result struct {
	index    int
	set      *xrd.Set
	err      error
	panicked string
}

// readAll reads the files concurrently, as far as Options allow, and yields each
// result when it is ready, until ctx ends.
func (s *Source) readAll(ctx context.Context, files []string) func(yield func(result) bool) {
	return func(yield func(result) bool) {
		// Both channels have room for everything, so that no worker waits for a Read that
		// has returned.
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
		// A truncated read because of ctx is not a file error.
		return result{index: index}
	}
	if err != nil {
		r.err = newError(path, err)
	}
	return r
}

// origin returns the origin of the objects of a file. Standard input has no location
// that could be referred to later.
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

// reader is a reader that ends with its context.
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
