package transform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
)

// glance is the poll interval of the template folder, which is small.
const glance = 200 * time.Millisecond

// follow transforms all inputs, and again whenever an input or a template changes,
// until ctx ends.
func (o *options) follow(ctx context.Context) error {
	if o.templates != "" {
		// A folder may disappear and come back later, but it must exist at the start.
		root, err := openFolder(o.templates)
		if err != nil {
			return err
		}
		_ = root.Close()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	source := o.source(o.Output)
	// Changes from here on are detected, however long the first run takes. The run
	// reports missing paths.
	_, _ = source.Files(ctx)
	failed := make(chan error, 1)
	go func() { failed <- source.Watch(ctx, tell) }()
	go watchFolder(ctx, o.templates, survey(o.templates), tell)

	w := &watch{options: o, written: map[string]bool{}}
	for {
		w.again(ctx)
		select {
		case <-ctx.Done():
			// This is the regular way to end.
			return nil
		case err := <-failed:
			if ctx.Err() != nil {
				return nil
			}
			return err
		case <-changed:
		}
	}
}

// watch is the state that is kept between runs.
type watch struct {
	*options
	// written are the names of the files of all runs that still exist.
	written map[string]bool
}

// again transforms all inputs once. Definitions that fail keep their files: only
// after a run without errors, files without a record are removed, and only files
// that this process wrote.
func (w *watch) again(ctx context.Context) {
	maker, err := w.open(w.Output)
	if err != nil {
		w.complain(err)
		return
	}
	defer maker.close()
	now := map[string]bool{}
	r := &run{options: w.options, maker: maker}
	r.out = newFiles(w.output, w.format, func(path string, n int) {
		now[filepath.Base(path)] = true
		r.wrote(path, n)
	})
	err = r.all(ctx)
	if ctx.Err() != nil {
		return
	}
	maps.Copy(w.written, now)
	if err != nil {
		w.complain(output.Failure(err))
		return
	}
	w.complain(r.conclude())
	if r.unread != nil || r.errors > 0 || len(r.incomplete) > 0 {
		w.Sayf("definitions that failed keep their files; watching")
		return
	}
	w.clear(now)
	if !w.Quiet {
		w.Sayf("watching")
	}
}

// complain prints an error and continues.
func (w *watch) complain(err error) {
	hint := ""
	if e, ok := errors.AsType[*app.Exit](err); ok {
		if e.Err == nil {
			return
		}
		hint = e.Hint
	}
	if err != nil {
		w.Complain(err, hint)
	}
}

// clear removes the files that were written before and are not in now.
func (w *watch) clear(now map[string]bool) {
	root, err := os.OpenRoot(w.output)
	if err != nil {
		// Nothing was ever written.
		return
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	for _, name := range slices.Sorted(maps.Keys(w.written)) {
		if now[name] {
			continue
		}
		delete(w.written, name)
		if err := root.Remove(name); err != nil {
			w.complain(fmt.Errorf("cannot remove %q: %w", filepath.Join(w.output, name), bare(err)))
			continue
		}
		if !w.Quiet {
			w.Sayf("removed %s", term.Safe(filepath.Join(w.output, name)))
		}
	}
}

// mark identifies a version of a file.
type mark struct {
	size int64
	time time.Time
	mode fs.FileMode
}

// survey returns the marks of all files of a folder.
func survey(dir string) map[string]mark {
	all := map[string]mark{}
	if dir == "" {
		return all
	}
	// Unreadable files count as missing; the run reports them.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		// Follow links: the target is the template.
		if info, err := os.Stat(path); err == nil && !d.IsDir() {
			all[path] = mark{info.Size(), info.ModTime(), info.Mode()}
		}
		return nil
	})
	return all
}

// watchFolder calls tell when the folder has changed.
func watchFolder(ctx context.Context, dir string, was map[string]mark, tell func()) {
	if dir == "" {
		return
	}
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := survey(dir)
		if !maps.Equal(was, now) {
			was = now
			tell()
		}
	}
}
