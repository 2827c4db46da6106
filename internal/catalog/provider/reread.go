package provider

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/db"
)

// guarded is reread that survives a bug: what somebody writes into a file must
// not end the process.
func (in *Providers) guarded(ctx context.Context, r *reading) (retry bool) {
	defer func() {
		if p := recover(); p != nil {
			in.metrics.synced(fromLocation, syncFailed)
			in.log.Error("a location could not be read because of a bug here", "location", r.target.String(),
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return in.reread(ctx, r)
}

// reread reads a location and writes what it found. It reports whether it is
// worth trying again soon, because the trouble was here.
func (in *Providers) reread(ctx context.Context, r *reading) (retry bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	// Of two replicas that read it at once, the one that began later is believed.
	ctx, err := in.store.Fence(ctx, "location "+r.id)
	if err != nil {
		in.metrics.synced(fromLocation, syncFailed)
		in.log.Error("cannot begin to read a location", "location", r.target.String(), "error", err)
		return true
	}
	target := r.target
	if !r.full && r.trusted < trustMemo {
		target.Since = r.memo
	}
	res, failed := in.locations.reader.Read(ctx, target)
	if res.Unchanged && !in.complete(ctx, r) {
		target.Since = nil
		res, failed = in.locations.reader.Read(ctx, target)
	}
	if ctx.Err() != nil || !in.locations.current(r) {
		return false
	}
	// What was read is written, even if the process is to end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishing)
	defer cancel()
	if res.Unchanged {
		r.trusted++
		in.metrics.synced(fromLocation, syncUnchanged)
		return in.note(ctx, r, r.problem) != nil
	}
	r.memo, r.trusted = nil, 0
	defer settle(len(res.Documents))
	conflicts, err := in.put(ctx, r, res, failed)
	if errors.Is(err, db.ErrSuperseded) {
		return false
	}
	if err != nil {
		in.metrics.synced(fromLocation, syncFailed)
		in.log.Error("cannot write what a location has", "location", r.target.String(), "error", err)
		return true
	}
	problems := slices.Concat(res.Problems, conflicts)
	if err := in.note(ctx, r, summary(problems)); err != nil {
		return true
	}
	if failed != nil {
		in.metrics.synced(fromLocation, syncFailed)
		return false
	}
	in.metrics.synced(fromLocation, syncDone)
	if len(conflicts) == 0 && len(r.missing) == 0 {
		// What belongs to somebody else today may be free tomorrow, so that a
		// location with conflicts is always read.
		r.memo, r.held = res.Memo, in.held(ctx, r)
	}
	return len(r.missing) > 0
}

// held returns how many entities of a location there are, -1 if that is not
// known.
func (in *Providers) held(ctx context.Context, r *reading) int {
	refs, err := in.store.Refs(ctx, r.provider())
	if err != nil {
		return -1
	}
	return len(refs)
}

// complete tells whether all is there that was written the last time: somebody
// may have deleted an entity, which comes back with the next reading.
func (in *Providers) complete(ctx context.Context, r *reading) bool { return in.held(ctx, r) == r.held }

// put writes what was read, and returns the conflicts it met. Nothing is
// removed unless it is surely gone.
func (in *Providers) put(ctx context.Context, r *reading, res *location.Result, failed error) ([]location.Problem, error) {
	own := &res.Documents[0]
	mark := func(conflicts []location.Problem) {
		// The location's own entity tells of what it led to directly, and of
		// all conflicts.
		var told []location.Problem
		for _, p := range res.Problems {
			if p.Parent == own.Ref {
				told = append(told, p)
			}
		}
		own.Node.Set("status", location.Status(append(told, conflicts...)))
	}
	// Conflicts are known only afterwards. They are rarely new, so that what
	// they were is written with the rest, and corrected if need be.
	if failed == nil {
		mark(r.conflicts)
	}
	change, err := in.changeOf(ctx, r, res, failed)
	if err != nil {
		return nil, err
	}
	result, err := in.store.Sync(ctx, change)
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, in.orphaned(ctx, r)
	}
	conflicts := in.conflictsOf(ctx, result.Refused)
	if !slices.Equal(conflicts, r.conflicts) {
		mark(conflicts)
		correction := store.Change{Provider: r.provider(), Put: []store.Document{{Node: own.Node}}}
		if _, err := in.store.Sync(ctx, correction); err != nil {
			return nil, err
		}
		r.conflicts = conflicts
	}
	return conflicts, in.orphaned(ctx, r)
}

// changeOf returns what is to be written.
func (in *Providers) changeOf(ctx context.Context, r *reading, res *location.Result, failed error) (store.Change, error) {
	change := store.Change{Provider: r.provider(), Full: failed == nil && res.Complete && len(res.Keep) == 0}
	var put []string
	for _, d := range res.Documents {
		change.Put = append(change.Put, store.Document{Node: d.Node, Parent: d.Parent})
		put = append(put, d.Ref)
	}
	if failed != nil || !res.Complete {
		return change, nil
	}
	gone, err := in.gone(ctx, r.provider(), put, res.Keep)
	if err != nil {
		return change, err
	}
	if r.target.Type == location.TypeFile && len(gone) > 0 && !slices.Equal(gone, r.missing) {
		// Somebody may be writing the file.
		change.Full, r.missing = false, gone
		return change, nil
	}
	if r.missing = nil; !change.Full {
		change.Remove = gone
	}
	return change, nil
}

// orphaned removes what was just written if the location was removed while it
// was read: the one who removed it could not know of it.
func (in *Providers) orphaned(ctx context.Context, r *reading) error {
	if r.static() {
		return nil
	}
	_, err := in.store.Location(ctx, r.id)
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	_, err = in.store.Sync(ctx, store.Change{Provider: r.provider(), Full: true})
	return err
}

// note remembers how reading went, and tells whoever reads the log if it is
// news.
func (in *Providers) note(ctx context.Context, r *reading, problem string) error {
	if problem != r.problem && problem != "" {
		in.log.Warn("location has problems", "location", r.target.String(), "problem", problem)
	}
	in.locations.mu.Lock()
	r.problem = problem
	in.locations.mu.Unlock()
	if r.static() {
		return nil
	}
	err := in.store.NoteLocation(ctx, r.id, problem, in.now())
	if errors.Is(err, db.ErrNotFound) {
		// It was removed meanwhile.
		return nil
	}
	if err != nil {
		in.log.Error("cannot note how a location was read", "location", r.target.String(), "error", err)
	}
	return err
}

// conflictsOf returns refusals as problems.
func (in *Providers) conflictsOf(ctx context.Context, refused []store.Refusal) []location.Problem {
	var out []location.Problem
	for _, r := range refused {
		out = append(out, location.Problem{Name: "ConflictError", Message: in.belongs(ctx, r)})
	}
	return out
}

// belongs says who has an entity that somebody else brings, by a name that
// people know.
func (in *Providers) belongs(ctx context.Context, r store.Refusal) string {
	owner := "provider " + r.Owner
	if id, ok := strings.CutPrefix(r.Owner, store.LocationProvider("")); ok {
		owner = "location " + id
		if target := in.locations.targetOf(id); target != "" {
			owner = target
		} else if l, err := in.store.Location(ctx, id); err == nil {
			owner = l.Type + ":" + l.Target
		}
	}
	return fmt.Sprintf("conflict: %s belongs to %s", r.Ref, owner)
}

// summary is what a location says about its problems, in so many lines at
// most.
func summary(problems []location.Problem) string {
	const most = 10
	var lines []string
	for i := range problems[:min(len(problems), most)] {
		lines = append(lines, problems[i].Error())
	}
	if more := len(problems) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
