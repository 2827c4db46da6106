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

// glance is how often the template folder is looked at. It is small.
const glance = 200 * time.Millisecond

// follow transforms all inputs, and again whenever one of them or a template
// changes, until ctx ends.
func (o *options) follow(ctx context.Context) error {
	if o.templates != "" {
		// A folder may go and come back later, but there is one to begin with.
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
	// What changes from here on is told, however long the first run takes. A
	// path that is not there is complained of by the run.
	_, _ = source.Files(ctx)
	failed := make(chan error, 1)
	go func() { failed <- source.Watch(ctx, tell) }()
	go watchFolder(ctx, o.templates, survey(o.templates), tell)

	w := &watch{options: o, written: map[string]bool{}}
	for {
		w.again(ctx)
		select {
		case <-ctx.Done():
			// Nobody ends it in another way.
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

// watch is what lasts from one run to the next.
type watch struct {
	*options
	// written are the names of the files of all runs that are still there.
	written map[string]bool
}

// again transforms all inputs once. What fails keeps the files it has: only
// after a run without any error those are removed that no record has any more,
// and of those only what was written here.
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
		w.Sayf("what failed keeps the files it has; watching")
		return
	}
	w.clear(now)
	if !w.Quiet {
		w.Sayf("watching")
	}
}

// complain says what went wrong, and goes on.
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

// clear removes the files that are not among those there are to be.
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

// mark is what tells one state of a file from another.
type mark struct {
	size int64
	time time.Time
	mode fs.FileMode
}

// survey looks at all files of a folder.
func survey(dir string) map[string]mark {
	all := map[string]mark{}
	if dir == "" {
		return all
	}
	// What cannot be looked at is as if it were not there; the run says why.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		// A link is followed: what it leads to is the template.
		if info, err := os.Stat(path); err == nil && !d.IsDir() {
			all[path] = mark{info.Size(), info.ModTime(), info.Mode()}
		}
		return nil
	})
	return all
}

// watchFolder tells when the folder is no more what it was.
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
