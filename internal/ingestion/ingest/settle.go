package ingest

import (
	"context"
	"time"
)

// unsettledFile is a file that has lost objects recently.
type unsettledFile struct {
	// Digest is a hash of its remaining objects and its stamp, and Since when it was first
	// seen. A file that was truncated, written and truncated again between two scans has
	// another stamp.
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
}

// unsettled returns the keys of known objects that were not read and whose file has not
// been unchanged for long: it may be in the middle of a write, and so may a file that
// does not exist. The other missing objects have vanished.
func (r *reading) unsettled(ctx context.Context, kept map[string]string) (keys []string, err error) {
	if r.Settle == 0 {
		return nil, nil
	}
	var missing map[string]bool
	for key := range r.known {
		if _, stays := kept[key]; !stays && !r.keys[key] && !r.lost[key] {
			if missing == nil {
				missing = map[string]bool{}
			}
			missing[key] = true
		}
	}
	if missing == nil {
		return nil, nil
	}
	objects, err := r.place.variant.in.Mirror.SourceObjects(ctx, r.s.name, listFolder)
	if err != nil {
		return nil, err
	}
	r.s.unsettled = map[string]unsettledFile{}
	for i := range objects {
		o := &objects[i]
		if !missing[o.Key] {
			continue
		}
		file := noteOf(o).Origin.File
		now := unsettledFile{short(r.digests[file] + r.Stamp(file)), r.s.now}
		if before, ok := r.s.before.Unsettled[file]; ok && before.Digest == now.Digest && !before.Since.After(now.Since) {
			now = before
		}
		if r.s.now.Sub(now.Since) >= r.Settle {
			continue
		}
		r.s.unsettled[file] = now
		keys = append(keys, o.Key)
	}
	return keys, nil
}
