package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/xrd"
)

// read reads what Ref and Path name into set, and returns the commit.
func (s *Source) read(ctx context.Context, r repository, set *xrd.Set) (string, error) {
	t, err := s.resolve(ctx, r)
	if err != nil {
		return "", err
	}
	in, err := r.load(ctx, t, s.opts.Path != "")
	if err != nil {
		return "", err
	}
	commit, err := commitOf(in, t.want)
	if err != nil {
		return "", err
	}
	files, err := find(ctx, in, commit.TreeHash, s.opts)
	if err != nil {
		return "", err
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	if in, err = r.need(ctx, files); err != nil {
		return "", err
	}
	if errs := s.decode(ctx, in, t, files, set); len(errs) > 0 {
		return "", errs
	}
	return commit.Hash.String(), ctx.Err()
}

// result is what was read from a file.
type result struct {
	index    int
	set      *xrd.Set
	err      error
	panicked string
}

// work is a file to decode.
type work struct {
	index int
	data  []byte
}

// decode reads the files. Their content comes from one goroutine, because not
// every store can be asked by several, and is decoded by many.
func (s *Source) decode(ctx context.Context, in objects, t target, files []file, set *xrd.Set) failures {
	workers := min(runtime.NumCPU(), len(files))
	// No worker waits for a reader that has returned.
	todo, done := make(chan work, workers), make(chan result, len(files))
	for range workers {
		go func() {
			for w := range todo {
				done <- decodeFile(ctx, w, s.origin(t, files[w.index].path))
			}
		}()
	}
	given, errs := s.give(ctx, in, files, todo)
	results := make([]result, len(files))
	for range given {
		r, ok := wait(ctx, done)
		if !ok {
			break
		}
		if r.panicked != "" {
			// Whoever called Read decides what a bug does to the process.
			panic(r.panicked)
		}
		results[r.index] = r
	}
	for _, r := range results {
		if r.set != nil {
			set.Join(r.set)
		}
		if r.err != nil {
			errs = append(errs, r.err)
		}
	}
	return errs
}

// wait waits for a result, or for the context to end.
func wait(ctx context.Context, done <-chan result) (result, bool) {
	select {
	case <-ctx.Done():
		return result{}, false
	case r := <-done:
		return r, true
	}
}

// give hands out the content of the files, and returns of how many.
func (s *Source) give(ctx context.Context, in objects, files []file, todo chan<- work) (given int, errs failures) {
	defer close(todo)
	left := &budget{most: s.opts.MaxBytes, left: s.opts.MaxBytes}
	for i, f := range files {
		data, err := blob(in, f, left)
		if err != nil {
			errs = append(errs, err)
			if final(ctx, err) {
				return given, errs
			}
			continue
		}
		select {
		case <-ctx.Done():
			return given, errs
		case todo <- work{i, data}:
			given++
		}
	}
	return given, errs
}

// blob returns the content of a file.
func blob(in objects, f file, left *budget) ([]byte, error) {
	n, err := in.EncodedObjectSize(f.hash)
	if err != nil {
		return nil, unreadable(f.path, err)
	}
	if err := left.take(n); err != nil {
		return nil, err
	}
	o, err := in.EncodedObject(plumbing.BlobObject, f.hash)
	if err != nil {
		return nil, unreadable(f.path, err)
	}
	data, err := content(o)
	if err != nil {
		return nil, unreadable(f.path, err)
	}
	return data, nil
}

// pointer is how a file begins that stands for one kept elsewhere.
const pointer = "version https://git-lfs.github.com/spec/"

// decodeFile decodes one file.
func decodeFile(ctx context.Context, w work, origin xrd.Origin) (r result) {
	r = result{index: w.index, set: &xrd.Set{}}
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Sprintf("cannot read %q: %v\n%s", origin.File, p, debug.Stack())
		}
	}()
	if bytes.HasPrefix(w.data, []byte(pointer)) {
		r.set.Documents++
		r.set.Findings = append(r.set.Findings, finding.Finding{
			Rule: xrd.RuleSyntax, Severity: finding.Error, File: origin.File,
			Message: "cannot read the document: it is a pointer of Git LFS, and what it stands for is not in the repository",
			Hint:    "keep definitions out of Git LFS",
		})
		return r
	}
	if err := r.set.Read(reader{ctx, bytes.NewReader(w.data)}, origin); err != nil && ctx.Err() == nil {
		r.err = unreadable(origin.File, err)
	}
	return r
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	in  io.Reader
}

// Read reads unless the context has ended.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
