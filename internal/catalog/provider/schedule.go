package provider

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/jobs"
)

const (
	// maxReads is how many locations this process reads concurrently because they are due,
	// and maxRefreshes how many because a user requested it.
	maxReads, maxRefreshes = 4, 2
	// retryAfter is the longest delay before a reading is repeated: after a failure on
	// this side, and to confirm that a file has lost entities.
	retryAfter = 5 * time.Second
	// checkEvery is how often orphaned entities and unread locations are looked for.
	checkEvery = 15 * time.Minute
	// finishing is the timeout for writing a result after the process was told to stop.
	finishing = 20 * time.Second
	// trustMemo is how many times in a row a location may be found unchanged before it is
	// read completely, in case its entities were removed.
	trustMemo = 10
	// byDefaultInterval applies if the configuration has no interval.
	byDefaultInterval = 100 * time.Second
)

// The tasks of the queue. taskRead and taskRefresh read a location, whose ID is the
// key; taskRefresh reads it completely. They are two tasks so that a request is never
// satisfied by a job that waits or runs without it, and does not wait for all locations
// that are due. If both read a location at the same time, the fence decides.
const (
	taskLocations = "locations"
	taskRead      = "location"
	taskRefresh   = "location-refresh"
)

// The keys of taskLocations: keyDue queues the reading of all locations. keyCheck
// removes orphaned entities and queues the reading of locations that were never read,
// such as those of which a replica with an older configuration knew nothing.
const (
	keyDue   = "due"
	keyCheck = "check"
)

// handle registers the tasks and schedules. One replica, the leader, queues the reading
// of all locations when it becomes the leader and at every interval; any replica reads
// them, once for all replicas. A job does not postpone itself until the next reading: a
// changed interval would not apply to it, and a replica whose configuration lacks the
// location would end it.
func (in *Providers) handle() {
	in.queue.Handle(jobs.Task{Name: taskLocations, Workers: 1, Run: in.sweep})
	in.queue.Handle(jobs.Task{Name: taskRead, Workers: maxReads, Run: func(ctx context.Context, j jobs.Job) error {
		return in.read(ctx, j.Key, false)
	}})
	in.queue.Handle(jobs.Task{Name: taskRefresh, Workers: maxRefreshes, Run: func(ctx context.Context, j jobs.Job) error {
		return in.read(ctx, j.Key, true)
	}})
	in.queue.Every(taskLocations, keyCheck, checkEvery, jobs.How{})
	in.queue.Every(taskLocations, keyDue, in.locations.interval, jobs.How{})
}

// readSoon requests an immediate and complete reading of a location by any replica.
func (in *Providers) readSoon(id string) {
	in.queue.Request(taskRefresh, id, jobs.How{Trigger: "request", Hurry: true, Requeued: true})
}

// read runs a job that reads a location. The job ends without a reading if the location
// is neither configured nor registered any more.
func (in *Providers) read(ctx context.Context, id string, full bool) error {
	r, err := in.readingOf(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return in.retry(ctx, "cannot look for a location", err)
	}
	retry := in.guarded(ctx, r, full)
	if ctx.Err() != nil {
		// The process stops, and another one runs the job.
		return ctx.Err()
	}
	if retry {
		return jobs.Later(in.locations.soon())
	}
	return nil
}

// retry logs why a job could not do its work, and postpones it.
func (in *Providers) retry(ctx context.Context, message string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	in.log.Error(message, "error", err)
	return jobs.Later(in.locations.soon())
}

// sweep queues the reading of locations. If that is its key, it first removes the
// entities of locations that are neither registered nor configured any more.
func (in *Providers) sweep(ctx context.Context, j jobs.Job) error {
	owners, err := in.store.Providers(ctx)
	if err != nil {
		return in.retry(ctx, "cannot look for locations", err)
	}
	// The locations are listed after the owners of entities, so that one that is being
	// registered does not seem to be gone.
	registered, err := in.store.Locations(ctx)
	if err != nil {
		return in.retry(ctx, "cannot look for locations", err)
	}
	known := in.locations.update(registered)
	if j.Key == keyCheck {
		if err := in.removeOrphans(ctx, owners, known); err != nil {
			return in.retry(ctx, "cannot remove the entities of a location that is gone", err)
		}
	}
	for id := range known {
		// A location that was read has at least one entity, that of the location itself.
		if j.Key == keyDue || owners[store.LocationProvider(id)] == 0 {
			in.queue.Ensure(taskRead, id, jobs.How{Trigger: j.Trigger, Requeued: true})
		}
	}
	return nil
}

// removeOrphans removes the entities of locations that are not known.
func (in *Providers) removeOrphans(ctx context.Context, owners map[string]int, known map[string]bool) error {
	for owner := range owners {
		id, ok := strings.CutPrefix(owner, store.LocationProvider(""))
		if !ok || known[id] {
			continue
		}
		res, err := in.store.Sync(ctx, write.Change{Provider: owner, Full: true})
		if err != nil {
			return err
		}
		in.log.Info("entities of a deleted location removed", "provider", owner, "removed", res.Removed)
	}
	return nil
}
