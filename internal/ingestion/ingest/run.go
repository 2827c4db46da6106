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
	"example.dev/ingestor/internal/ingestion/mirror"
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
	Tally
	// Again is the delay after which the source is to be scanned again; 0 if the schedule
	// is enough.
	Again time.Duration `json:"-"`
	// Error is what went wrong; everything else was done.
	Error string `json:"error,omitempty"`
	// Changes are stored separately; nil if they were not requested.
	Changes *Changes `json:"changes,omitempty"`
}

// Changes are the references of entities, and the names of units that could not be
// built: the first mostChanges of each, sorted.
type Changes struct {
	Added   []string `json:"added"`
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	Failed  []string `json:"failed"`
	// Refused are entities that belong to other providers.
	Refused []string `json:"refused"`
}

// mostChanges is how many references of each kind are stored with a run.
const mostChanges = 100

// add appends more changes. Those beyond the limit are dropped.
func (c *Changes) add(more Changes) {
	for _, to := range []struct {
		list *[]string
		more []string
	}{{&c.Added, more.Added}, {&c.Updated, more.Updated}, {&c.Removed, more.Removed}, {&c.Failed, more.Failed}, {&c.Refused, more.Refused}} {
		room := max(0, mostChanges-len(*to.list))
		*to.list = append(*to.list, to.more[:min(room, len(to.more))]...)
	}
}

// sorted returns the changes sorted and without duplicates, with empty lists instead of
// nil.
func (c *Changes) sorted() Changes {
	put := func(list []string) []string {
		list = append([]string{}, list...)
		slices.Sort(list)
		return slices.Compact(list)
	}
	return Changes{put(c.Added), put(c.Updated), put(c.Removed), put(c.Failed), put(c.Refused)}
}

// Scan reads a target and processes what changed. The error describes what could not be
// read or written; everything else was.
func (in *Ingest) Scan(ctx context.Context, name, trigger string) (Run, error) {
	p, err := in.target(name)
	if err != nil {
		return Run{}, err
	}
	run := Run{Source: name, Trigger: trigger, Started: in.Now()}
	s, err := p.readAll(ctx)
	if errors.Is(err, db.ErrSuperseded) {
		p.variant.Log.Debug("scan superseded by another process", "source", name)
		return run, nil
	}
	if err != nil {
		in.unfinished(ctx, p, run, err)
		return run, err
	}
	read := in.Now().Sub(run.Started)
	in.meters.phase("read", read)
	in.meters.scanned(p, s.found)
	unread := joinOnce(s.errs)
	if unread != nil {
		in.meters.failed(p.at, reason(unread))
	} else {
		in.meters.succeeded(p, s.now)
	}
	run.Discovered, run.Changed, run.Selected = s.found, s.dirty, s.picks.selected
	if len(s.unsettled) > 0 {
		run.Again = p.settle
	}
	if chosen := p.variant.selection(&s.picks); chosen != nil {
		run.Notice = chosen.Message
	}
	p.variant.Log.Debug("scan ended", "source", name, "definitions", s.found, "selected", s.picks.selected, "changed", s.dirty,
		"milliseconds", read.Milliseconds(), "error", errorText(unread))
	run.Phases = map[string]int64{"read": read.Milliseconds()}
	var worked error
	run.Tally, worked = in.workAfter(ctx, p)
	if worked != nil && ctx.Err() == nil {
		in.meters.failed("", "catalog")
	}
	err = errors.Join(unread, worked)
	if !p.often || trigger != TriggerSchedule || run.changed() || errorText(err) != s.before.Error {
		in.journal(ctx, run, err)
	}
	return run, err
}

// workAfter processes the units that are dirty after a scan, and retries failed units,
// which may succeed now.
func (in *Ingest) workAfter(ctx context.Context, p *target) (Tally, error) {
	if ctx.Err() != nil {
		// Reading took all of the time. The worker processes the units.
		in.buildSoon()
		return Tally{}, nil
	}
	failing, err := in.failing(ctx)
	if err == nil {
		err = in.Mirror.Touch(ctx, slices.Sorted(maps.Keys(failing)))
	}
	if err != nil {
		return Tally{}, err
	}
	if p.follow != nil || !p.cluster {
		// Workloads are scanned too often for that.
		in.rested("")
	}
	return in.work(ctx)
}

// unfinished counts and records a scan whose result could not be stored, unless the
// process is stopping.
func (in *Ingest) unfinished(ctx context.Context, p *target, run Run, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	in.meters.failed(p.at, reason(err))
	in.journal(ctx, run, err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// readAll reads a target and stores the result. The error is a database error, or says
// that ctx was cancelled or that the scan was superseded. Of two concurrent scans of a
// target, the one that started later wins: the other may be delayed, and what it has
// seen is older.
func (p *target) readAll(ctx context.Context) (*scan, error) {
	if err := p.lock(ctx); err != nil {
		return nil, err
	}
	defer p.unlock()
	ctx, err := p.variant.in.Mirror.Fence(ctx, "scan "+p.name)
	if err != nil {
		return nil, err
	}
	s, err := p.newScan(ctx)
	if err != nil {
		return nil, err
	}
	heard := p.heard.Load()
	failed := p.scan(ctx, s)
	if errors.Is(ctx.Err(), context.Canceled) {
		// The source did not fail.
		return nil, ctx.Err()
	}
	if err := errors.Join(append(slices.Clone(s.errs), failed)...); errors.Is(err, db.ErrSuperseded) {
		return nil, err
	}
	// Store the result even of a scan that timed out.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), concluding)
	defer cancel()
	s.save(after)
	err = s.conclude(after, failed)
	if err == nil && len(s.errs) > 0 && p.heard.Load() != heard {
		// What could not be read may have become readable a moment later.
		p.variant.in.scanSoon(p)
	}
	return s, err
}

// concluding is the timeout for storing the result of a scan.
const concluding = 15 * time.Second

// notSource is the prefix of the journal keys that are not states of sources.
const notSource = "about "

// listFailing is the journal key of the units that cannot be built.
const listFailing = notSource + "units that failed"

// failing returns the units that could not be built at the last attempt, by any
// replica, and why.
func (in *Ingest) failing(ctx context.Context) (map[string]string, error) {
	states, err := in.Mirror.SourceStates(ctx, listFailing)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	if data, ok := states[listFailing]; ok {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// fails stores the failing units.
func (in *Ingest) fails(ctx context.Context, failures map[string]string) error {
	data, err := json.Marshal(failures)
	if err != nil {
		return err
	}
	return in.Mirror.SetSource(ctx, listFailing, data)
}

// journal stores a run.
func (in *Ingest) journal(ctx context.Context, run Run, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), concluding)
	defer cancel()
	run.Replica = in.Replica
	run.Milliseconds = in.Now().Sub(run.Started).Milliseconds()
	if run.Phases == nil {
		run.Phases = map[string]int64{}
	}
	run.Phases["load"], run.Phases["transform"], run.Phases["write"] = run.Load.Milliseconds(), run.Transform.Milliseconds(), run.Write.Milliseconds()
	run.Error = errorText(err)
	body, failed := json.Marshal(run)
	changes, err := json.Marshal(run.Tally.changes.sorted())
	if failed = errors.Join(failed, err); failed == nil {
		failed = in.Mirror.AddRun(ctx, run.Started, mirror.Run{Body: body, Changes: changes})
	}
	if failed != nil {
		in.warn(in.Log, "journal", "run write failed", "error", failed)
		return
	}
	in.news("journal", "")
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
