package ingest

import (
	"context"
	"fmt"
	"time"

	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/jobs"
)

// The tasks of the service. Of each task and key, one job runs at a time, across all
// replicas. Builds and inspections have dedicated workers, so that they do not wait for
// scans of slow clusters.
const (
	taskScan    = "scan"
	taskBuild   = "build"
	taskInspect = "inspect"
)

// Builds and inspections are scheduled besides being requested: a replica may have died
// after it marked units dirty, before it requested the build.
const (
	lookEvery = 30 * time.Second
	// buildAgain is the delay before a retry after an error, of which there are
	// buildAttempts; then the schedule retries.
	buildAgain    = 2 * time.Second
	buildAttempts = 10
)

// register registers the tasks and their schedules with the queue.
func (in *Ingest) register(q *jobs.Queue) {
	q.Handle(jobs.Task{
		Name: taskScan,
		Run: func(ctx context.Context, j jobs.Job) error {
			run, err := in.Scan(ctx, j.Key, j.Trigger)
			if err == nil && run.Again > 0 {
				return jobs.Later(run.Again)
			}
			return err
		},
		How: func(name string) (jobs.How, bool) {
			p, err := in.target(name)
			if err != nil {
				return jobs.How{}, false
			}
			return in.how(p, ""), true
		},
	})
	for _, p := range in.targets {
		q.Every(taskScan, p.Name, p.Every, in.how(p, TriggerSchedule))
	}
	q.Handle(jobs.Task{Name: taskBuild, Workers: 1, Run: func(ctx context.Context, _ jobs.Job) error { return in.BuildDirty(ctx) }})
	q.Handle(jobs.Task{Name: taskInspect, Workers: 1, Run: func(ctx context.Context, _ jobs.Job) error { return in.InspectChanged(ctx) }})
	q.Every(taskBuild, "", lookEvery, buildHow())
	q.Every(taskInspect, "", lookEvery, buildHow())
}

// how returns the job options for scanning the target.
func (in *Ingest) how(p *scan.Target, trigger string) jobs.How {
	return jobs.How{
		Trigger: trigger, Timeout: p.Variant.Timeout, Hurry: trigger == TriggerManual,
		Attempts: 1 + in.Processing.RetryAttempts, RetryDelay: in.Processing.RetryDelay,
	}
}

func buildHow() jobs.How {
	return jobs.How{Attempts: buildAttempts, RetryDelay: buildAgain, Hurry: true}
}

// RequestScan queues a scan of a target that a user requests.
func (in *Ingest) RequestScan(ctx context.Context, name string) error {
	p, err := in.target(name)
	if err != nil {
		return err
	}
	if _, err := in.Queue.Add(ctx, taskScan, name, in.how(p, TriggerManual)); err != nil {
		return fmt.Errorf("cannot request a scan of %q: %w", name, err)
	}
	return nil
}

// scanSoon requests a scan of the target, by any replica: because a folder has changed,
// or watching a cluster failed.
func (in *Ingest) scanSoon(p *scan.Target) {
	in.reached("request scan", p.Name)
	in.requested.Store(p.Name, in.Now())
	if in.Queue != nil {
		in.Queue.Request(taskScan, p.Name, in.how(p, TriggerWatch))
	}
}

// lastRequested returns when scanSoon was last called for a target; zero if it never was.
func (in *Ingest) lastRequested(target string) time.Time {
	at, _ := in.requested.Load(target)
	t, _ := at.(time.Time)
	return t
}

// buildSoon requests a build of the dirty units, and an inspection of the changed ones.
func (in *Ingest) buildSoon() {
	if in.Queue == nil {
		return
	}
	in.Queue.Request(taskBuild, "", buildHow())
	in.Queue.Request(taskInspect, "", buildHow())
}

// BuildDirty processes all dirty units, and records that as a run if it changed the catalog.
func (in *Ingest) BuildDirty(ctx context.Context) error {
	begun := in.Now()
	t, err := in.processor.Process(ctx)
	if err != nil && ctx.Err() == nil {
		in.metrics.Failed("", "catalog")
	}
	if t.Changed() || t.Failed > 0 {
		in.journal(ctx, Run{Trigger: TriggerWatch, Started: begun, Tally: t}, err)
	}
	if err == nil && t.Units >= batch.MostUnits {
		in.buildSoon()
	}
	return err
}

// Definitions are inspected when the worker is idle: it takes about as long as building
// their entities, and nothing waits for the result.
const (
	// After a batch, the inspector sleeps for as long as the batch took, but at least for
	// moment.
	moment = 300 * time.Millisecond
	// longest is how long the inspector waits for the worker to become idle.
	longest = time.Minute
)

// InspectChanged inspects all units that are due, batch by batch. The queue runs it once at a
// time across all replicas.
func (in *Ingest) InspectChanged(ctx context.Context) error {
	for {
		scan.Pause(ctx, moment)
		if err := in.idle(ctx); err != nil {
			return err
		}
		begun := in.Now()
		n, err := in.InspectBatch(ctx)
		if err != nil || n == 0 {
			return err
		}
		scan.Pause(ctx, min(in.Now().Sub(begun), longest))
	}
}

// idle waits until no unit is due for the worker, but for at most longest.
func (in *Ingest) idle(ctx context.Context) error {
	for waited := time.Duration(0); waited < longest; waited += moment {
		units, err := in.processor.Due(ctx, 1)
		if err != nil || len(units) == 0 {
			return err
		}
		scan.Pause(ctx, moment)
	}
	return ctx.Err()
}
