// Package dir writes entities to files: one for each kind, one for each entity, a
// single one, or as the caller chooses. Files are written atomically, and never
// outside the directory, whatever the names of entities.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

// Layout is how entities are distributed over files.
type Layout uint8

// The layouts.
const (
	// PerKind writes a file for each kind, such as template.yaml.
	PerKind Layout = iota
	// PerEntity writes a file for each entity in a directory for each kind, such as
	// Template/databases.yaml.
	PerEntity
	// SingleFile writes one file for all entities.
	SingleFile
	// Named writes one file for all entities to which Options.File gives the same
	// name.
	Named
)

// Options configure a Sink.
type Options struct {
	// Format is sink.YAML by default.
	Format sink.Format
	// Layout is PerKind by default.
	Layout Layout
	// File names the file for an entity with the layout Named, without a directory
	// and without the extension of the format. Names that differ only in case are
	// the same file.
	File func(*entity.Entity) string
	// Wrote, if not nil, is called for each file once all are in place, including
	// files whose content did not change.
	Wrote func(path string, entities int)
}

// Sink writes files.
type Sink struct {
	root string
	opts Options
}

var _ sink.Sink = (*Sink)(nil)

// New returns a Sink that writes to the directory root or, with SingleFile, to the
// file root. Missing parts of the path are created.
func New(root string, opts Options) *Sink { return &Sink{root: root, opts: opts} }

// Write writes the entities. All files are prepared before the first one is put in
// place, so that a failure while preparing leaves everything unchanged. A file
// whose content does not change is not touched, and no file is removed. Without
// entities nothing is written.
func (s *Sink) Write(ctx context.Context, entities []*entity.Entity) error {
	if len(entities) == 0 {
		return nil
	}
	to, err := s.target()
	if err != nil {
		return err
	}
	if to.special {
		return s.pour(entities)
	}
	files := s.files(entities, to.name)
	b, err := begin(to.dir)
	if err != nil {
		return s.explain(err)
	}
	defer b.end()
	if err := s.prepare(ctx, b, files); err != nil {
		return s.explain(err)
	}
	if err := b.commit(); err != nil {
		return s.explain(err)
	}
	for _, f := range files {
		s.wrote(f.name, len(f.entities))
	}
	return nil
}

// atOnce is how many files are prepared concurrently. Most of the time is spent on
// syncing each file to disk, and disks handle many requests at once.
const atOnce = 16

func (s *Sink) prepare(ctx context.Context, b *batch, files []file) error {
	// Obstacles are found before anything is written, and in order, so that the same
	// mistake always gives the same message.
	for _, f := range files {
		if err := b.check(f.name); err != nil {
			return err
		}
	}
	workers, others := errgroup.WithContext(ctx)
	workers.SetLimit(atOnce)
	for _, f := range files {
		if others.Err() != nil {
			break
		}
		workers.Go(func() error {
			return b.prepare(f.name, func(w io.Writer) error { return s.write(w, f.entities) })
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &Error{Path: s.root, Err: context.Cause(ctx)}
	}
	return nil
}

func (s *Sink) wrote(name string, entities int) {
	if s.opts.Wrote == nil {
		return
	}
	path := s.root
	if s.opts.Layout != SingleFile {
		path = filepath.Join(s.root, filepath.FromSlash(name))
	}
	s.opts.Wrote(path, entities)
}

// target is where to write: the directory, and the name of the file in it for
// SingleFile.
type target struct {
	dir, name string
	// special means a device or a pipe, which is written to and not replaced.
	special bool
}

func (s *Sink) target() (target, error) {
	if s.root == "" {
		return target{}, &Error{Err: errors.New("the path is empty"), Hint: "set --output"}
	}
	info, err := os.Stat(s.root)
	if s.opts.Layout == SingleFile {
		return s.singleTarget(info, err)
	}
	if err == nil && !info.IsDir() {
		hint := "set --output to a directory"
		if s.opts.Layout == PerKind {
			hint += ", or add --single-file to write one file"
		}
		return target{}, &Error{Path: s.root, Err: errors.New("is a file, not a directory"), Hint: hint}
	}
	return target{dir: s.root}, nil
}

func (s *Sink) singleTarget(info fs.FileInfo, err error) (target, error) {
	switch {
	case err == nil && info.IsDir():
		return target{}, &Error{
			Path: s.root, Err: errors.New("is a directory, not a file"),
			Hint: fmt.Sprintf("set --output to a file in it, such as %q", filepath.Join(s.root, "catalog"+s.opts.Format.Ext())),
		}
	case os.IsPathSeparator(s.root[len(s.root)-1]):
		return target{}, &Error{
			Path: s.root, Err: errors.New("path ends in a separator, so it names a directory"),
			Hint: "set --output to a file",
		}
	case err == nil && !info.Mode().IsRegular():
		return target{special: true}, nil
	case err == nil:
		// Replace the target of a link, not the link that the user named.
		at, err := filepath.EvalSymlinks(s.root)
		if err != nil {
			return target{}, &Error{Path: s.root, Err: err}
		}
		return target{dir: filepath.Dir(at), name: filepath.Base(at)}, nil
	}
	return target{dir: filepath.Dir(s.root), name: filepath.Base(s.root)}, nil
}

// pour writes to an existing path that is not a regular file, such as /dev/stdout.
func (s *Sink) pour(entities []*entity.Entity) error {
	f, err := os.OpenFile(s.root, os.O_WRONLY, 0)
	if err != nil {
		return s.explain(&Error{Path: s.root, Err: err})
	}
	err = s.write(f, entities)
	if err = errors.Join(err, f.Close()); err != nil {
		return &Error{Path: s.root, Err: err}
	}
	s.wrote("", len(entities))
	return nil
}

// Error is an error of writing to a path.
type Error struct {
	Path string
	Err  error
	// Hint says how to fix the problem; it may be empty.
	Hint string
}

// Error returns the message. It contains the path only once, although the
// operating system's error names it too.
func (e *Error) Error() string {
	why := e.Err.Error()
	if p, ok := errors.AsType[*fs.PathError](e.Err); ok {
		why = p.Err.Error()
	}
	if l, ok := errors.AsType[*os.LinkError](e.Err); ok {
		why = l.Err.Error()
	}
	return fmt.Sprintf("cannot write to %q: %s", e.Path, why)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain adds the hint that is common to all errors of a kind.
func (s *Sink) explain(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Hint != "" {
		return err
	}
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		e.Hint = "grant write permission, or choose another path with --output"
	case strings.Contains(e.Error(), "path escapes"):
		e.Hint = "remove the link that leads out of the output directory"
	}
	return e
}
