package ingest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
)

// Every replica publishes the sources of its configuration every presentEvery, valid
// for presentFor. So a replica with an older configuration, restarted or not, does not
// delete the sources of the others.
const (
	presentEvery = time.Minute
	presentFor   = 3 * time.Minute
)

// keyPresent is the journal key prefix under which replicas publish their sources.
const keyPresent = status.NotSource + "replica "

// presence is the heartbeat of a replica.
type presence struct {
	At      time.Time `json:"at"`
	Sources []string  `json:"sources"`
}

// tidy deletes sources that no configuration names any more, at the start and then
// periodically.
func (in *Ingest) tidy(ctx context.Context) {
	for ctx.Err() == nil {
		wait := presentEvery
		if err := in.drop(ctx); err != nil && ctx.Err() == nil {
			in.once.Warn(in.Log, "tidy", "removal of unconfigured sources failed", "error", err)
			wait = time.Second
		}
		scan.Pause(ctx, wait)
	}
	// A replica that stops withdraws its sources, so that others need not wait until they
	// expire.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = in.present(ctx, presence{})
}

func (in *Ingest) present(ctx context.Context, p presence) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return in.Mirror.SetSource(ctx, keyPresent+in.Replica, data)
}

// drop deletes these sources once.
func (in *Ingest) drop(ctx context.Context) error {
	own := presence{At: in.Now()}
	for _, p := range in.targets {
		own.Sources = append(own.Sources, p.Name)
	}
	if err := in.present(ctx, own); err != nil {
		return err
	}
	keep, err := in.named(ctx, own)
	if err != nil {
		return err
	}
	gone, err := in.Mirror.DropSources(ctx, keep)
	if err != nil {
		return err
	}
	for _, p := range in.variants {
		if p.Detection.Enabled {
			// Leftover marks of a deleted source are harmless.
			_ = p.Detection.Marks.Forget(ctx, keep)
		}
	}
	for name, n := range gone {
		if !strings.HasPrefix(name, status.NotSource) {
			in.Log.Warn("source no longer configured; its entities are removed", "source", name, "objects", n)
		}
	}
	in.once.Changed("tidy", "")
	in.buildSoon()
	return nil
}

// named returns the journal keys to keep: the sources that a replica names, and the
// other keys of the journal.
func (in *Ingest) named(ctx context.Context, own presence) ([]string, error) {
	states, err := in.Mirror.SourceStates(ctx)
	if err != nil {
		return nil, err
	}
	keep := append([]string{status.KeyFailures, keyPresent + in.Replica}, own.Sources...)
	for _, source := range own.Sources {
		keep = append(keep, status.KeyConfirmed+source)
	}
	for name, data := range states {
		var other presence
		if in.Sole || !strings.HasPrefix(name, keyPresent) || json.Unmarshal(data, &other) != nil {
			continue
		}
		if own.At.Sub(other.At).Abs() < presentFor {
			keep = append(append(keep, name), other.Sources...)
		}
	}
	return keep, nil
}
