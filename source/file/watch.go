package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// DefaultSettle is how long there must be no change before Watch reports changes.
	DefaultSettle = 100 * time.Millisecond
	// patience is how many times Settle Watch waits if changes do not end.
	patience = 10
)

// Watch calls changed when what Read would read has changed: the content of a file,
// or the set of files. It does so from the calling goroutine, once nothing has
// changed for Options.Settle, or after ten times as long if changes do not end.
// Changes since a previous Read count too. Files that do not exist yet, that are
// replaced, or that links lead to are watched as well; changes above the directory of
// a path are not, unless a link is there.
//
// Watch returns when ctx ends, with its error, or when it cannot continue. Not every
// file system reports changes, network file systems seldom do, so reading again from
// time to time is still useful.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	for _, p := range s.paths {
		if p == Stdin {
			return errors.New("cannot watch standard input: can be read only once")
		}
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return watchError("files", err)
	}
	in := newInbox()
	var pump sync.WaitGroup
	pump.Go(func() { in.fill(notify.Events, notify.Errors) })
	defer pump.Wait()
	defer notify.Close() //nolint:errcheck // nothing is lost
	w := &watching{source: &Source{paths: s.paths, opts: s.opts}, notify: notify, changed: changed}
	// Read reports what is skipped.
	w.source.opts.Skipped = nil
	if err := w.look(ctx); err != nil {
		return err
	}
	if last := s.last.Load(); last != nil && ctx.Err() == nil && differ(*last, w.now.files) {
		changed()
	}
	return w.run(ctx, in)
}

func watchError(what string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("cannot watch %s: too many watches; raise fs.inotify.max_user_watches: %w", what, err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("cannot watch %s: too many watchers or open files; raise fs.inotify.max_user_instances: %w", what, err)
	}
	return fmt.Errorf("cannot watch %s: %w", what, err)
}

// inbox buffers events as they arrive, so that the system never blocks: neither on
// changed, nor on adding a watch, which some systems cannot do while an event is
// pending.
type inbox struct {
	signal chan struct{}
	mu     sync.Mutex
	// ops are the operations, by path.
	ops    map[string]fsnotify.Op
	missed bool
	err    error
}

// maxEvents is how many paths are distinguished. If there are more, events count as
// missed.
const maxEvents = 10_000

func newInbox() *inbox {
	return &inbox{signal: make(chan struct{}, 1), ops: map[string]fsnotify.Op{}}
}

// fill receives events until the channels are closed.
func (in *inbox) fill(events <-chan fsnotify.Event, errs <-chan error) {
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			in.add(func() {
				in.ops[e.Name] |= e.Op
				if len(in.ops) > maxEvents {
					in.missed = true
					clear(in.ops)
				}
			})
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			in.add(func() {
				in.missed = in.missed || errors.Is(err, fsnotify.ErrEventOverflow)
				if !errors.Is(err, fsnotify.ErrEventOverflow) {
					in.err = err
				}
			})
		}
	}
}

func (in *inbox) add(f func()) {
	in.mu.Lock()
	f()
	in.mu.Unlock()
	select {
	case in.signal <- struct{}{}:
	default:
	}
}

// take empties the inbox.
func (in *inbox) take() (ops map[string]fsnotify.Op, missed bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	ops, missed, err = in.ops, in.missed, in.err
	in.ops, in.missed = map[string]fsnotify.Op{}, false
	return ops, missed, err
}

// watching is a running Watch.
type watching struct {
	source  *Source
	notify  *fsnotify.Watcher
	changed func()
	now     *view
	// touched are the paths that were written, and missed says that the list is
	// incomplete.
	touched map[string]bool
	missed  bool
}

// run waits for events, and then for them to end.
func (w *watching) run(ctx context.Context, in *inbox) error {
	settle := w.source.opts.Settle
	w.touched = map[string]bool{}
	// Both are nil while there is nothing to report.
	var quiet, late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-in.signal:
			matters, err := w.note(in)
			if err != nil {
				return fmt.Errorf("cannot continue watching: %w", err)
			}
			if !matters {
				continue
			}
			quiet = time.After(settle)
			if late == nil {
				late = time.After(patience * settle)
			}
			continue
		case <-quiet:
		case <-late:
		}
		quiet, late = nil, nil
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
}

// note takes the events and reports whether any may matter.
func (w *watching) note(in *inbox) (matters bool, err error) {
	ops, missed, err := in.take()
	if err != nil {
		return false, err
	}
	w.missed = w.missed || missed
	matters = missed
	for path, op := range ops {
		path = filepath.Clean(path)
		look, touched := w.now.judge(path, op, w.source.opts.Recursive)
		matters = matters || look
		if touched {
			w.touched[path] = true
		}
	}
	return matters, nil
}

// settle surveys the files, and reports a change if there is one.
func (w *watching) settle(ctx context.Context) error {
	before, touched, missed := w.now, w.touched, w.missed
	w.touched, w.missed = map[string]bool{}, false
	if err := w.look(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		// The survey may be incomplete.
		return nil
	}
	for path := range touched {
		missed = missed || before.ends[path] || w.now.ends[path]
	}
	if missed || differ(before.files, w.now.files) {
		w.changed()
	}
	return nil
}

// rounds is how often look retries to keep up with directories that come and go.
const rounds = 10

// look surveys the files, and watches their directories. What appears in a directory
// before it is watched is found by surveying again.
func (w *watching) look(ctx context.Context) error {
	w.now = w.source.survey(ctx)
	for range rounds {
		before := w.now.folders()
		if err := w.watch(before); err != nil {
			return err
		}
		w.now = w.source.survey(ctx)
		if maps.Equal(before, w.now.folders()) {
			break
		}
	}
	return nil
}

// watch watches these directories and no others.
func (w *watching) watch(folders map[string]bool) error {
	for _, old := range w.notify.WatchList() {
		if !folders[old] {
			// It may already be gone.
			_ = w.notify.Remove(old)
		}
	}
	for folder := range folders {
		// Watched directories are added again, since they may have been removed and created
		// again.
		err := w.notify.Add(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOTDIR) {
			return watchError(fmt.Sprintf("%q", folder), err)
		}
	}
	return nil
}

// differ reports whether files were added, removed or changed.
func differ(a, b map[string]stamp) bool { return !maps.Equal(a, b) }
