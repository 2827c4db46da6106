package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
)

// What triggered a scan.
const (
	TriggerSchedule = "schedule"
	TriggerManual   = "manual"
	TriggerWatch    = "watch"
)

// Run is the record of a scan or of processing dirty units.
type Run struct {
	// ID identifies the run among those that are stored.
	ID string `json:"id,omitempty"`
	// Source is the target that was scanned; empty if only dirty units were processed.
	Source  string `json:"source,omitempty"`
	Trigger string `json:"trigger"`
	// Replica is the process that did it.
	Replica string    `json:"replica,omitempty"`
	Started time.Time `json:"started"`
	// Milliseconds is the duration of the run. Phases are those of its phases; phases that
	// run concurrently add up to more than the whole.
	Milliseconds int64            `json:"milliseconds"`
	Phases       map[string]int64 `json:"phases,omitempty"`
	// Discovered counts definitions, Selected those of them that are selected, and Notice
	// says why none is. Changed counts the units that the scan made dirty.
	Discovered int    `json:"discovered"`
	Selected   int    `json:"selected"`
	Notice     string `json:"notice,omitempty"`
	Changed    int    `json:"changed"`
	batch.Tally
	// Again is the delay after which the source is to be scanned again; 0 if the schedule
	// is enough.
	Again time.Duration `json:"-"`
	// Error is what went wrong; everything else was done.
	Error string `json:"error,omitempty"`
	// Changes are stored separately; nil if they were not requested.
	Changes *batch.Changes `json:"changes,omitempty"`
}

// Scan reads a target and processes what changed. The error describes what could not be
// read or written; everything else was.
func (in *Ingest) Scan(ctx context.Context, name, trigger string) (Run, error) {
	p, err := in.target(name)
	if err != nil {
		return Run{}, err
	}
	run := Run{Source: name, Trigger: trigger, Started: in.Now()}
	s, err := p.Scan(ctx)
	if errors.Is(err, db.ErrSuperseded) {
		p.Variant.Log.Debug("scan superseded by another process", "source", name)
		return run, nil
	}
	if err != nil {
		in.unfinished(ctx, p, run, err)
		return run, err
	}
	read := in.Now().Sub(run.Started)
	in.metrics.Phase("read", read)
	in.metrics.Scanned(p.Target, s.Found())
	unread := s.Err()
	if unread != nil {
		in.metrics.Failed(p.At, status.Reason(unread))
	} else {
		in.metrics.Succeeded(p.Target, s.Begun)
	}
	run.Discovered, run.Changed = s.Found(), s.Dirty()
	if len(s.Unsettled) > 0 {
		run.Again = p.Settle
	}
	if chosen := s.Selection(); chosen != nil {
		run.Selected, run.Notice = chosen.Selected, chosen.Message
	}
	p.Variant.Log.Debug("scan ended", "source", name, "definitions", run.Discovered, "selected", run.Selected, "changed", run.Changed,
		"milliseconds", read.Milliseconds(), "error", status.Text(unread))
	run.Phases = map[string]int64{"read": read.Milliseconds()}
	var worked error
	run.Tally, worked = in.workAfter(ctx, p)
	if worked != nil && ctx.Err() == nil {
		in.metrics.Failed("", "catalog")
	}
	err = errors.Join(unread, worked)
	if !p.Often || trigger != TriggerSchedule || run.Tally.Changed() || status.Text(err) != s.Before.Error {
		in.journal(ctx, run, err)
	}
	return run, err
}

// workAfter processes the units that are dirty after a scan, and retries failed units,
// which may succeed now.
func (in *Ingest) workAfter(ctx context.Context, p *scan.Target) (batch.Tally, error) {
	if ctx.Err() != nil {
		// Reading took all of the time. The worker processes the units.
		in.buildSoon()
		return batch.Tally{}, nil
	}
	failing, err := status.Failures(ctx, in.Mirror)
	if err == nil {
		err = in.Mirror.Touch(ctx, slices.Sorted(maps.Keys(failing)))
	}
	if err != nil {
		return batch.Tally{}, err
	}
	if p.Watch != nil || !p.Cluster {
		// Workloads are scanned too often for that.
		in.processor.Release("")
	}
	return in.processor.Process(ctx)
}

// unfinished counts and records a scan whose result could not be stored, unless the
// process is stopping.
func (in *Ingest) unfinished(ctx context.Context, p *scan.Target, run Run, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	in.metrics.Failed(p.At, status.Reason(err))
	in.journal(ctx, run, err)
}

// journal stores a run.
func (in *Ingest) journal(ctx context.Context, run Run, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scan.Concluding)
	defer cancel()
	run.Replica = in.Replica
	run.Milliseconds = in.Now().Sub(run.Started).Milliseconds()
	if run.Phases == nil {
		run.Phases = map[string]int64{}
	}
	run.Phases["load"], run.Phases["transform"], run.Phases["write"] = run.Load.Milliseconds(), run.Transform.Milliseconds(), run.Write.Milliseconds()
	run.Error = status.Text(err)
	body, failed := json.Marshal(run)
	changes, err := json.Marshal(run.Refs.Sorted())
	if failed = errors.Join(failed, err); failed == nil {
		failed = in.Mirror.AddRun(ctx, run.Started, mirror.Run{Body: body, Changes: changes})
	}
	if failed != nil {
		in.once.Warn(in.Log, "journal", "run write failed", "error", failed)
		return
	}
	in.once.Changed("journal", "")
}

// Runs returns the last runs without their changes, the newest first.
func (in *Ingest) Runs(ctx context.Context, limit int) ([]Run, error) {
	known, err := in.Mirror.Runs(ctx, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Run, len(known))
	for i := range known {
		if out[i], err = readRun(known[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RunOf returns a run with its changes. It reports false if there is none with that ID.
func (in *Ingest) RunOf(ctx context.Context, id string) (Run, bool, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return Run{}, false, nil
	}
	known, ok, err := in.Mirror.Run(ctx, n)
	if err != nil || !ok {
		return Run{}, false, err
	}
	run, err := readRun(known)
	return run, err == nil, err
}

// readRun decodes a stored run. Runs of an older release have no changes.
func readRun(known mirror.Run) (run Run, err error) {
	if err := json.Unmarshal(known.Body, &run); err != nil {
		return run, err
	}
	run.ID = strconv.FormatInt(known.ID, 10)
	if len(known.Changes) > 0 {
		err = json.Unmarshal(known.Changes, &run.Changes)
	}
	return run, err
}
