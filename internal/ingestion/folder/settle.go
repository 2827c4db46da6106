package folder

import (
	"context"

	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
)

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
	objects, err := r.target.Mirror.SourceObjects(ctx, r.s.Name, object.ListFolder)
	if err != nil {
		return nil, err
	}
	r.s.Unsettled = map[string]status.Unsettled{}
	for i := range objects {
		o := &objects[i]
		if !missing[o.Key] {
			continue
		}
		file := object.NoteOf(o).Origin.File
		now := status.Unsettled{Digest: object.Hash(r.digests[file] + r.Stamp(file)), Since: r.s.Begun}
		if before, ok := r.s.Before.Unsettled[file]; ok && before.Digest == now.Digest && !before.Since.After(now.Since) {
			now = before
		}
		if r.s.Begun.Sub(now.Since) >= r.Settle {
			continue
		}
		r.s.Unsettled[file] = now
		keys = append(keys, o.Key)
	}
	return keys, nil
}
