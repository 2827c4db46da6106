package ingest

import (
	"context"
	"fmt"
	"time"

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
			return p.how(""), true
		},
	})
	for _, p := range in.places {
		q.Every(taskScan, p.name, p.every, p.how(TriggerSchedule))
	}
	q.Handle(jobs.Task{Name: taskBuild, Workers: 1, Run: func(ctx context.Context, _ jobs.Job) error { return in.BuildDirty(ctx) }})
	q.Handle(jobs.Task{Name: taskInspect, Workers: 1, Run: func(ctx context.Context, _ jobs.Job) error { return in.InspectChanged(ctx) }})
	q.Every(taskBuild, "", lookEvery, buildHow())
	q.Every(taskInspect, "", lookEvery, buildHow())
}

// how returns the job options for scanning the target.
func (p *target) how(trigger string) jobs.How {
	processing := &p.variant.in.Processing
	return jobs.How{
		Trigger: trigger, Timeout: p.variant.Timeout, Hurry: trigger == TriggerManual,
		Attempts: 1 + processing.RetryAttempts, RetryDelay: processing.RetryDelay,
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
	if _, err := in.Queue.Add(ctx, taskScan, name, p.how(TriggerManual)); err != nil {
		return fmt.Errorf("cannot request a scan of %q: %w", name, err)
	}
	return nil
}

// scanSoon requests a scan of the target, by any replica: because a folder has changed,
// or watching a cluster failed.
func (in *Ingest) scanSoon(p *target) {
	in.reached("request scan", p.name)
	if in.Queue != nil {
		in.Queue.Request(taskScan, p.name, p.how(TriggerWatch))
	}
}

// buildSoon requests a build of the dirty units, and an inspection of the changed ones.
func (in *Ingest) buildSoon() {
	if in.Queue == nil {
		return
	}
	in.Queue.Request(taskBuild, "", buildHow())
	in.Queue.Request(taskInspect, "", buildHow())
}
