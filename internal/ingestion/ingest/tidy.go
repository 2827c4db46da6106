package ingest

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// A replica says every so often which sources its configuration names, and is
// believed for a while. So a replica that was not restarted yet, or that was
// restarted with the configuration from before, takes nothing from the others.
const (
	presentEvery = time.Minute
	presentFor   = 3 * time.Minute
)

// listPresent is where the journal keeps what a replica says.
const listPresent = notSource + "replica "

// presence is what a replica says of itself.
type presence struct {
	At      time.Time `json:"at"`
	Sources []string  `json:"sources"`
}

// tidy forgets sources that no configuration names any more, at the start and
// now and again.
func (in *Ingest) tidy(ctx context.Context) {
	for ctx.Err() == nil {
		wait := presentEvery
		if err := in.drop(ctx); err != nil && ctx.Err() == nil {
			in.warn(in.Log, "tidy", "cannot forget sources that are not in the configuration any more", "error", err)
			wait = time.Second
		}
		pause(ctx, wait)
	}
	// Whoever stops says so, that nobody waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = in.present(ctx, presence{})
}

func (in *Ingest) present(ctx context.Context, p presence) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return in.Memory.SetSource(ctx, listPresent+in.Replica, data)
}

// drop forgets them once.
func (in *Ingest) drop(ctx context.Context) error {
	own := presence{At: in.Now()}
	for _, p := range in.places {
		own.Sources = append(own.Sources, p.name)
	}
	if err := in.present(ctx, own); err != nil {
		return err
	}
	keep, err := in.named(ctx, own)
	if err != nil {
		return err
	}
	gone, err := in.Memory.DropSources(ctx, keep)
	if err != nil {
		return err
	}
	for _, p := range in.parts {
		if p.Detection.Enabled {
			// What is remembered of a source that is gone is in nobody's way.
			_ = p.Detection.Marks.Forget(ctx, keep)
		}
	}
	for name, n := range gone {
		if !strings.HasPrefix(name, notSource) {
			in.Log.Warn("source is not in the configuration any more, so its entities go", "source", name, "objects", n)
		}
	}
	in.news("tidy", "")
	in.rouse()
	return nil
}

// named returns the names under which something is kept: those of sources that
// a replica names, and what the journal has besides.
func (in *Ingest) named(ctx context.Context, own presence) ([]string, error) {
	states, err := in.Memory.SourceStates(ctx)
	if err != nil {
		return nil, err
	}
	keep := append([]string{listFailing, listPresent + in.Replica}, own.Sources...)
	for _, source := range own.Sources {
		keep = append(keep, listConfirmed+source)
	}
	for name, data := range states {
		var other presence
		if in.Sole || !strings.HasPrefix(name, listPresent) || json.Unmarshal(data, &other) != nil {
			continue
		}
		if own.At.Sub(other.At).Abs() < presentFor {
			keep = append(append(keep, name), other.Sources...)
		}
	}
	return keep, nil
}
