// Package definition implements the provider xrdTemplates: entities that generators
// (ingestor-cli, composer-ingestor, xrd-transform) wrote to the files of a folder
// become entities of the catalog, and stay as long as they are in a file. An unreadable
// file removes nothing.
package definition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/source/file"
)

// Provider owns the entities. No client can push under this name, because it has a
// capital letter.
const Provider = "xrdTemplates"

// rest is the delay before a broken watch is restarted.
const rest = 30 * time.Second

// Store stores the entities. Its methods may be called concurrently.
type Store interface {
	// Sync applies a change of a provider in one transaction.
	Sync(ctx context.Context, c write.Change) (write.Result, error)
	// Refs returns the references of the entities that a provider owns.
	Refs(ctx context.Context, provider string) ([]string, error)
	// Fence returns a context with which writes fail with db.ErrSuperseded once another
	// caller has requested a fence of that name.
	Fence(ctx context.Context, name string) (context.Context, error)
}

// Options are the options of New. All are required except Doubt, Changed and Registry.
type Options struct {
	Store Store
	// Config says which folder is read.
	Config config.XRDTemplates
	// Doubt, if not nil, reports whether so many entities disappear at once that the
	// removal must be confirmed by a later reading.
	Doubt func(gone, of int) bool
	// Settle is how long entities must be missing from the folder before they are removed:
	// a file may be in the middle of a write.
	Settle time.Duration
	// Changed requests a reading of the folder soon, by any replica; nil reads it here.
	Changed func(ctx context.Context) error
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Registry registers the metrics; nil means none.
	Registry prometheus.Registerer
}

// Folder brings the entities of a folder into the catalog. Its methods may be called
// concurrently.
type Folder struct {
	store   Store
	config  config.XRDTemplates
	doubt   func(gone, of int) bool
	settle  time.Duration
	changed func(ctx context.Context) error
	now     func() time.Time
	log     *slog.Logger
	files   *file.Source
	metrics *metrics

	// turn is held while the folder is read, and guards the following fields.
	turn sync.Mutex
	// known are the files without problems, as of when their entities were written; nil if
	// not all were written. held is how many entities there were then, and clean says that
	// there were no problems at all.
	known map[string]known
	held  int
	clean bool
	// fence is the number of the fence of the last reading.
	fence int64
	// emptied is when most of the entities were first missing from the folder, zero if
	// they are there. missing are the entities that were missing at the last reading, at
	// looked, and since when.
	emptied time.Time
	missing []string
	since   time.Time
	looked  time.Time
	// told is the problem that was last logged.
	told string

	mu     sync.Mutex
	status Status
}

// Status is the state of reading the folder.
type Status struct {
	// Enabled says that the folder is read, Directory which one it is.
	Enabled   bool
	Directory string
	// Tried is when the last reading was attempted; Succeeded is when the readable
	// entities were last written to the catalog. Zero means never.
	Tried, Succeeded time.Time
	// Error describes the problems of the folder or its files in a few lines; empty if
	// there are none.
	Error string
	// Files and Entities are their numbers at the last success, and Problems the number of
	// problems.
	Files, Entities, Problems int
}

// New returns the provider for the configured folder. It reads nothing yet.
func New(opts Options) *Folder {
	c := opts.Config
	if whole, err := filepath.Abs(c.Directory); err == nil && c.Directory != "" {
		// Entities contain their path, whose readers have another working directory.
		c.Directory = whole
	}
	g := &Folder{store: opts.Store, config: c, doubt: opts.Doubt, settle: opts.Settle, changed: opts.Changed, now: opts.Now, log: opts.Log}
	if g.changed == nil {
		g.changed = func(ctx context.Context) error {
			_, err := g.Refresh(ctx)
			return err
		}
	}
	g.status = Status{Enabled: c.Enabled, Directory: c.Directory}
	// Kubernetes mounts files as links inside the folder.
	g.files = file.New([]string{c.Directory}, file.Options{
		Recursive: true, FollowSymlinks: true, Within: c.Directory,
		Skipped: func(path, why string) { g.log.Debug("file skipped", "path", path, "why", why) },
	})
	if c.Enabled {
		g.metrics = newMetrics(opts.Registry, g)
	}
	return g
}

// Status returns the current status.
func (g *Folder) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.status
}

// Refresh reads the folder once and updates the catalog. It returns an error, which is
// not logged, if the folder cannot be read or the store cannot be written; then nothing
// has changed. Problems with single files are logged when they are new, and reported by
// Status. If the provider is disabled, Refresh removes its remaining entities. again is
// the delay after which the folder is to be read once more, because a file may be in
// the middle of a write; 0 if the schedule is enough.
func (g *Folder) Refresh(ctx context.Context) (again time.Duration, err error) {
	g.turn.Lock()
	defer g.turn.Unlock()
	defer func() {
		// The content of a file must not end the process.
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot read %q: internal error: %v", g.config.Directory, p)
			g.log.Error("read of generated entities panicked", "directory", g.config.Directory, "stack", string(debug.Stack()))
		}
		if err != nil && ctx.Err() == nil {
			g.failed(err)
		}
	}()
	if !g.config.Enabled {
		_, err := g.store.Sync(ctx, write.Change{Provider: Provider, Full: true})
		return 0, err
	}
	ctx, err = g.store.Fence(ctx, fenceName)
	if err != nil {
		return 0, err
	}
	if n := db.FenceOf(ctx, fenceName); n != g.fence+1 {
		// Another replica has read the folder since, perhaps with other content.
		g.known = nil
		g.fence = n
	} else {
		g.fence++
	}
	err = g.refresh(ctx)
	if errors.Is(err, db.ErrSuperseded) {
		// Another replica has started a newer reading.
		g.known = nil
		return 0, nil
	}
	if len(g.missing) > 0 && err == nil {
		again = g.settle
	}
	return again, err
}

// fenceName is the name of the fence for readings of the folder.
const fenceName = "folder " + Provider

func (g *Folder) refresh(ctx context.Context) error {
	owned, err := g.store.Refs(ctx, Provider)
	if err != nil {
		return err
	}
	if len(owned) != g.held {
		// An entity was deleted and must be restored.
		g.known = nil
	}
	r, err := g.read(ctx, g.known)
	if err != nil {
		return err
	}
	if g.known != nil && g.clean && len(r.problems) == 0 && r.same == r.files && r.same == len(g.known) {
		g.metrics.refreshed(refreshUnchanged)
		g.note(func(s *Status) { s.Succeeded = s.Tried })
		return nil
	}
	g.known = nil
	change := g.change(r, owned)
	res, err := g.store.Sync(ctx, change)
	if err != nil {
		return err
	}
	for _, refused := range res.Refused {
		r.report(location.Problem{Name: "ConflictError", Message: fmt.Sprintf("conflict: %s belongs to %s", refused.Ref, owner(refused.Owner))})
	}
	if owned, err = g.store.Refs(ctx, Provider); err != nil {
		return err
	}
	// A conflict may be resolved at any time, and another copy of an entity may become the
	// first, so in these cases everything is read again.
	if len(res.Refused) == 0 && !r.copies && g.emptied.IsZero() && len(g.missing) == 0 {
		g.known, g.held, g.clean = r.known, len(owned), len(r.problems) == 0
	}
	g.metrics.refreshed(refreshDone)
	if res.Added+res.Updated+res.Removed > 0 {
		g.log.Info("generated entities changed", "directory", g.config.Directory,
			"added", res.Added, "updated", res.Updated, "removed", res.Removed)
	}
	problem := r.summary()
	g.tell(problem)
	g.note(func(s *Status) {
		s.Succeeded, s.Error = s.Tried, problem
		s.Files, s.Entities, s.Problems = r.files, len(owned), len(r.problems)+r.untold
	})
	return nil
}

// change returns the change to write. It removes nothing unless it is certainly gone.
func (g *Folder) change(r *reading, owned []string) write.Change {
	c := write.Change{Provider: Provider, Put: r.docs}
	if r.partial || len(r.places) == 0 && len(r.problems) > 0 {
		return c
	}
	stay := map[string]bool{}
	for _, ref := range r.keep {
		stay[ref] = true
	}
	var gone []string
	for _, ref := range owned {
		if _, there := r.places[ref]; !there && !stay[ref] {
			gone = append(gone, ref)
		}
	}
	if !g.isSettled(gone) {
		return c
	}
	if len(gone) == 0 || len(r.places) > 0 && (g.doubt == nil || !g.doubt(len(gone), len(owned))) {
		g.emptied = time.Time{}
	} else if !g.isEmptied() {
		r.report(location.Problem{Name: "NotFoundError", Where: g.config.Directory,
			Message: fmt.Sprintf("%d of %d entities of the folder are missing; they are removed if they stay missing", len(gone), len(owned))})
		return c
	}
	c.Remove = gone
	return c
}

// isSettled reports whether entities have been missing for a while: rewriting a file
// truncates it first.
func (g *Folder) isSettled(missing []string) bool {
	now := g.now()
	// The folder is read again after g.settle. A much older reading says nothing about the
	// time in between.
	if !slices.Equal(missing, g.missing) || now.Sub(g.looked) > 5*g.settle {
		g.missing, g.since = missing, now
	}
	g.looked = now
	if len(missing) > 0 && now.Sub(g.since) < g.settle {
		return false
	}
	g.missing = nil
	return true
}

// isEmptied reports whether most entities have been missing from the folder for a
// while. A volume that is not mounted yet looks like that for a moment, and so does a
// folder that a generator clears first.
func (g *Folder) isEmptied() bool {
	now := g.now()
	if g.emptied.IsZero() {
		g.emptied = now
	}
	if now.Sub(g.emptied) < g.config.Frequency/2 {
		return false
	}
	g.emptied = time.Time{}
	return true
}

// owner returns the display name of a provider.
func owner(provider string) string {
	if id, ok := strings.CutPrefix(provider, store.LocationProvider("")); ok {
		return "location " + id
	}
	return "provider " + provider
}

// note updates the status after an attempt.
func (g *Folder) note(change func(*Status)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status.Tried = g.now()
	change(&g.status)
}

// failed records an attempt that changed nothing.
func (g *Folder) failed(err error) {
	g.known = nil
	g.metrics.refreshed(refreshFailed)
	g.note(func(s *Status) { s.Error = err.Error() })
}

// tell logs a problem, or that it is over, once.
func (g *Folder) tell(problem string) {
	switch {
	case problem == g.told:
	case problem != "":
		g.log.Warn("generated entities have problems", "directory", g.config.Directory, "problem", problem)
	default:
		g.log.Info("problems of generated entities resolved", "directory", g.config.Directory)
	}
	g.told = problem
}

// complain acquires the lock and calls tell.
func (g *Folder) complain(err error) {
	g.turn.Lock()
	defer g.turn.Unlock()
	g.tell(err.Error())
}

// Watch requests a reading when files of the folder change, until ctx ends. Each error
// is logged once. It returns immediately if watching is disabled.
func (g *Folder) Watch(ctx context.Context) {
	if !g.config.Enabled || !g.config.Watch {
		return
	}
	for ctx.Err() == nil {
		err := g.files.Watch(ctx, func() {
			if err := g.changed(ctx); err != nil && ctx.Err() == nil {
				g.complain(err)
			}
		})
		if ctx.Err() != nil {
			return
		}
		g.complain(err)
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}
