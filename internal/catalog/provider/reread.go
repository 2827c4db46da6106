package provider

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
)

// guarded calls reread and recovers from a panic: the content of a file must not end
// the process.
func (in *Providers) guarded(ctx context.Context, r *reading, full bool) (retry bool) {
	defer func() {
		if p := recover(); p != nil {
			in.metrics.synced(fromLocation, syncFailed)
			in.log.Error("location read panicked", "location", r.target.String(),
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return in.reread(ctx, r, full)
}

// reread reads a location and writes the result; full means without the memo. It
// reports whether to retry soon, because the failure was on this side or the other task
// reads the location here. A file that has lost entities is read again after a moment,
// since it may be in the middle of a write: by the same job, because the next one may
// run in another process.
func (in *Providers) reread(ctx context.Context, r *reading, full bool) (retry bool) {
	if !r.lock.TryLock() {
		return true
	}
	defer r.lock.Unlock()
	r.missing = nil
	retry = in.readOnce(ctx, r, full)
	if len(r.missing) == 0 {
		return retry
	}
	timer := time.NewTimer(in.locations.soon())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-timer.C:
	}
	retry = in.readOnce(ctx, r, true)
	return retry || len(r.missing) > 0
}

// readOnce reads a location once and writes the result. It reports whether to retry
// soon.
func (in *Providers) readOnce(ctx context.Context, r *reading, full bool) (retry bool) {
	// If two processes read it concurrently, the one that started later wins.
	name := "location " + r.id
	ctx, err := in.store.Fence(ctx, name)
	if err != nil {
		in.metrics.synced(fromLocation, syncFailed)
		in.log.Error("start of location read failed", "location", r.target.String(), "error", err)
		return true
	}
	// If another process has read it in the meantime, the catalog may contain something
	// else than the memo describes.
	last := r.fence
	r.fence = db.FenceOf(ctx, name)
	target := r.target
	if !full && r.trusted < trustMemo && r.fence == last+1 {
		target.Since = r.memo
	}
	res, failed := in.locations.reader.Read(ctx, target)
	if res != nil && res.Unchanged && !in.complete(ctx, r) {
		target.Since = nil
		res, failed = in.locations.reader.Read(ctx, target)
	}
	defer in.closeReading(res)
	if ctx.Err() != nil {
		return false
	}
	// Write what was read, even if the process is stopping.
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
		in.log.Error("location write failed", "location", r.target.String(), "error", err)
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
		// The conflict may be resolved at any time, so a location with conflicts is always
		// read completely.
		r.memo, r.held = res.Memo, in.held(ctx, r)
	}
	return false
}

// held returns how many entities of a location exist, -1 if that is unknown.
func (in *Providers) held(ctx context.Context, r *reading) int {
	refs, err := in.store.Refs(ctx, r.provider())
	if err != nil {
		return -1
	}
	return len(refs)
}

// complete reports whether all entities from the last write still exist: a deleted
// entity is restored by the next full reading.
func (in *Providers) complete(ctx context.Context, r *reading) bool { return in.held(ctx, r) == r.held }

// put writes what was read, and returns the conflicts. It removes nothing unless it is
// certainly gone.
func (in *Providers) put(ctx context.Context, r *reading, res *location.Result, failed error) ([]location.Problem, error) {
	own := &res.Documents[0]
	mark := func(conflicts []location.Problem) {
		// The entity of the location itself lists the problems of its direct targets, and all
		// conflicts.
		var told []location.Problem
		for _, p := range res.Problems {
			if p.Parent == own.Ref {
				told = append(told, p)
			}
		}
		own.Node.Set("status", location.Status(append(told, conflicts...)))
	}
	// Conflicts are known only after the write. They are rarely new, so the previous ones
	// are written along with the rest, and corrected if necessary.
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
		correction := write.Change{Provider: r.provider(), Put: []write.Document{{Node: own.Node}}}
		if _, err := in.store.Sync(ctx, correction); err != nil {
			return nil, err
		}
		r.conflicts = conflicts
	}
	return conflicts, in.orphaned(ctx, r)
}

// changeOf returns the change to write.
func (in *Providers) changeOf(ctx context.Context, r *reading, res *location.Result, failed error) (write.Change, error) {
	change := write.Change{Provider: r.provider(), Full: failed == nil && res.Complete && len(res.Keep) == 0}
	var put []string
	for _, d := range res.Documents {
		change.Put = append(change.Put, write.Document{Node: d.Node, Spooled: d.Text, Ref: d.Ref, Parent: d.Parent})
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
		// The file may be in the middle of a write.
		change.Full, r.missing = false, gone
		return change, nil
	}
	if r.missing = nil; !change.Full {
		change.Remove = gone
	}
	return change, nil
}

// orphaned removes the entities that were just written if the location was removed
// while it was read: the removal could not include them.
func (in *Providers) orphaned(ctx context.Context, r *reading) error {
	if r.static() {
		return nil
	}
	_, err := in.store.Location(ctx, r.id)
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	_, err = in.store.Sync(ctx, write.Change{Provider: r.provider(), Full: true})
	return err
}

// note stores the result of reading, and logs a problem if it is new.
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
		// The location was removed in the meantime.
		return nil
	}
	if err != nil {
		in.log.Error("location status write failed", "location", r.target.String(), "error", err)
	}
	return err
}

// conflictsOf converts refusals to problems.
func (in *Providers) conflictsOf(ctx context.Context, refused []write.Refusal) []location.Problem {
	var out []location.Problem
	for _, r := range refused {
		out = append(out, location.Problem{Name: "ConflictError", Message: in.belongs(ctx, r)})
	}
	return out
}

// belongs says which provider owns an entity that another one tried to write, by a name
// that users know.
func (in *Providers) belongs(ctx context.Context, r write.Refusal) string {
	owner := "provider " + r.Owner
	if id, ok := strings.CutPrefix(r.Owner, store.LocationProvider("")); ok {
		owner = "location " + id
		if target, ok := in.locations.static[id]; ok {
			owner = target.String()
		} else if l, err := in.store.Location(ctx, id); err == nil {
			owner = l.Type + ":" + l.Target
		}
	}
	return fmt.Sprintf("conflict: %s belongs to %s", r.Ref, owner)
}

// summary returns the first problems of a location, one per line, and how many more
// there are.
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
