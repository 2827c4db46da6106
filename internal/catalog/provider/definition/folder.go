// Package definition is the provider xrdTemplates: the entities that generators
// (ingestor-cli, composer-ingestor, xrd-transform) wrote to the files of a
// folder become entities of the catalog, and stay as long as they are in a
// file. What cannot be read removes nothing.
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
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/source/file"
)

// Provider is who owns the entities. No client can push in this name: it has a
// capital letter.
const Provider = "xrdTemplates"

// rest is how long it takes until a watch that broke off is begun again.
const rest = 30 * time.Second

// Store is where the entities go. Its methods may be called at once.
type Store interface {
	// Sync makes the catalog what a provider says, wholly or not at all.
	Sync(ctx context.Context, c store.Change) (store.Result, error)
	// Refs returns the references of what a provider owns.
	Refs(ctx context.Context, provider string) ([]string, error)
	// Fence returns a context with which nothing is written any more,
	// db.ErrSuperseded, once somebody else has asked for one of that name.
	Fence(ctx context.Context, name string) (context.Context, error)
}

// Options are what a Generated works with. All but Registry are needed.
type Options struct {
	Store Store
	// Config says which folder is read.
	Config config.XRDTemplates
	// Doubt, if not nil, reports whether so many of the entities vanish at once
	// that it is not believed at first.
	Doubt func(gone, of int) bool
	// Settle is how long entities must have been missing from the folder until they
	// are gone: somebody may be writing a file.
	Settle time.Duration
	// Changed has the folder read soon, by whichever replica; nil reads it here.
	Changed func(ctx context.Context) error
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Registry is told what is counted; nil means nobody is.
	Registry prometheus.Registerer
}

// Folder brings the entities of a folder into the catalog. Its methods may
// be called at once.
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

	// turn is held by whoever reads the folder. What follows is theirs.
	turn sync.Mutex
	// known are the files with which nothing was wrong, as they were when their
	// entities had been written; nil if that is not so. held is how many
	// entities there were then, and clean says that nothing was wrong at all.
	known map[string]known
	held  int
	clean bool
	// fence is that of the last reading.
	fence int64
	// emptied is when most of the entities were first not found in the folder, zero
	// if they are there. missing are those that were not found the last time, since
	// when, and looked is that time.
	emptied time.Time
	missing []string
	since   time.Time
	looked  time.Time
	// told is what the log was told last.
	told string

	mu     sync.Mutex
	status Status
}

// Status is how reading the folder goes.
type Status struct {
	// Enabled says that the folder is to be read, Directory which one it is.
	Enabled   bool
	Directory string
	// Tried is when it was last read, or should have been; Succeeded is when
	// what could be read of it was last in the catalog. Zero means never.
	Tried, Succeeded time.Time
	// Error says what is wrong with the folder, or with some of its files, in
	// a few lines; empty if nothing is.
	Error string
	// Files and Entities are how many there were at the last success, and
	// Problems how many things were wrong with them.
	Files, Entities, Problems int
}

// New returns the provider of the folder in the configuration. It reads
// nothing yet.
func New(opts Options) *Folder {
	c := opts.Config
	if whole, err := filepath.Abs(c.Directory); err == nil && c.Directory != "" {
		// Entities say where they come from, and whoever reads that is
		// elsewhere.
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
		Skipped: func(path, why string) { g.log.Debug("passed over", "path", path, "why", why) },
	})
	if c.Enabled {
		g.metrics = newMetrics(opts.Registry, g)
	}
	return g
}

// Status returns how it goes.
func (g *Folder) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.status
}

// Refresh reads the folder once and makes the catalog what it says. The error,
// which is not logged, is a folder that cannot be read or a store that cannot
// be written; then nothing has changed. What is wrong with single files is
// logged when it is news, and told by Status. Switched off, Refresh removes
// what is left of the time before. again is after what time the folder is to be
// read once more, because somebody may be writing to it; 0 if the schedule is
// enough.
func (g *Folder) Refresh(ctx context.Context) (again time.Duration, err error) {
	g.turn.Lock()
	defer g.turn.Unlock()
	defer func() {
		// What somebody writes into a file must not end the process.
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot read %q because of a bug here: %v", g.config.Directory, p)
			g.log.Error("generated entities could not be read because of a bug here", "directory", g.config.Directory, "stack", string(debug.Stack()))
		}
		if err != nil && ctx.Err() == nil {
			g.failed(err)
		}
	}()
	if !g.config.Enabled {
		_, err := g.store.Sync(ctx, store.Change{Provider: Provider, Full: true})
		return 0, err
	}
	ctx, err = g.store.Fence(ctx, fenceName)
	if err != nil {
		return 0, err
	}
	if n := db.FenceOf(ctx, fenceName); n != g.fence+1 {
		// Another replica has read it since, perhaps in another state.
		g.known = nil
		g.fence = n
	} else {
		g.fence++
	}
	err = g.refresh(ctx)
	if errors.Is(err, db.ErrSuperseded) {
		// What another replica has begun to read is the newer.
		g.known = nil
		return 0, nil
	}
	if len(g.missing) > 0 && err == nil {
		again = g.settle
	}
	return again, err
}

// fenceName tells readings of the folder from whatever else is ordered.
const fenceName = "folder " + Provider

func (g *Folder) refresh(ctx context.Context) error {
	owned, err := g.store.Refs(ctx, Provider)
	if err != nil {
		return err
	}
	if len(owned) != g.held {
		// Somebody deleted an entity, which comes back.
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
	// What belongs to somebody else today may be free tomorrow, and of two of
	// one name the other may count then, so that all is read again.
	if len(res.Refused) == 0 && !r.copies && g.emptied.IsZero() && len(g.missing) == 0 {
		g.known, g.held, g.clean = r.known, len(owned), len(r.problems) == 0
	}
	g.metrics.refreshed(refreshDone)
	if res.Added+res.Updated+res.Removed > 0 {
		g.log.Info("generated entities have changed", "directory", g.config.Directory,
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

// change returns what is to be written. Nothing of what is there is removed
// unless it is surely gone.
func (g *Folder) change(r *reading, owned []string) store.Change {
	c := store.Change{Provider: Provider, Put: r.docs}
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
			Message: fmt.Sprintf("%d of the %d entities that came from the folder are not in it any more; they go if it stays so", len(gone), len(owned))})
		return c
	}
	c.Remove = gone
	return c
}

// isSettled reports whether entities have been missing for a moment: whoever
// writes a file anew empties it first.
func (g *Folder) isSettled(missing []string) bool {
	now := g.now()
	// The folder is read again after g.settle. What was seen long before tells nothing
	// of the time in between.
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

// isEmptied reports whether the folder, in which most entities are not found any
// more, has been so for a while. A volume that is not mounted yet, and a generator
// that clears its folder first, look like that for a moment.
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

// owner is what people call a provider.
func owner(provider string) string {
	if id, ok := strings.CutPrefix(provider, store.LocationProvider("")); ok {
		return "location " + id
	}
	return "provider " + provider
}

// note changes the status after an attempt.
func (g *Folder) note(change func(*Status)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status.Tried = g.now()
	change(&g.status)
}

// failed notes an attempt that changed nothing.
func (g *Folder) failed(err error) {
	g.known = nil
	g.metrics.refreshed(refreshFailed)
	g.note(func(s *Status) { s.Error = err.Error() })
}

// tell tells the log what is wrong, once.
func (g *Folder) tell(problem string) {
	switch {
	case problem == g.told:
	case problem != "":
		g.log.Warn("generated entities have problems", "directory", g.config.Directory, "problem", problem)
	default:
		g.log.Info("generated entities have no problems any more", "directory", g.config.Directory)
	}
	g.told = problem
}

// complain is tell for whoever does not have the turn.
func (g *Folder) complain(err error) {
	g.turn.Lock()
	defer g.turn.Unlock()
	g.tell(err.Error())
}

// Watch refreshes when files of the folder change, until ctx ends. Errors are
// logged, once each. It returns at once if nobody wants it.
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
