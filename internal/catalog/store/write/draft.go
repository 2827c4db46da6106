package write

import (
	"context"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/store/body"
	"example.dev/ingestor/internal/catalog/store/index"
)

// draft is what can be computed of upserts without the database. It is prepared while
// the database writes the previous draft.
type draft struct {
	entries []upsert
	bodies  []body.Body
	words   [][]string
	// fields are those of each entity, without its relations until the batch is composed.
	fields [][]index.Field
	// names are the keys of fields, which fields refer to by index. lists are the
	// marked keys of lists.
	names   []string
	numbers map[string]int64
	lists   map[string]bool
	// batch is what is to be written, once it is composed; fields have the key numbers of
	// the database then.
	batch *rowBatch
	err   error
}

// drafts prepares drafts of all entities to put, one after the other, until ctx ends.
// Drafts whose keys all have numbers are composed.
func (s *Writer) drafts(ctx context.Context, d *changeSet, l *linkage) <-chan *draft {
	out := make(chan *draft)
	go func() {
		defer close(out)
		for part := range slices.Chunk(d.put, batchEntities) {
			dr := draftOf(part)
			if dr.err == nil {
				if kids, ok := s.keys.All(dr.keys(l)); ok {
					dr.compose(l, kids)
				}
			}
			select {
			case out <- dr:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func draftOf(entries []upsert) *draft {
	n := len(entries)
	dr := &draft{
		entries: entries, bodies: make([]body.Body, n), words: make([][]string, n), fields: make([][]index.Field, n),
		numbers: map[string]int64{}, lists: map[string]bool{},
	}
	for i := range entries {
		e := &entries[i]
		p, err := e.prepared()
		if err != nil {
			dr.err = err
			return dr
		}
		dr.bodies[i], dr.words[i] = p.blank.Serve(e.uid, len(p.edges)), p.words
		fields := append(make([]index.Field, 0, len(p.fields)+1), index.Field{Kid: dr.number(index.UIDKey), Value: e.uid})
		for _, f := range p.fields {
			fields = append(fields, index.Field{Kid: dr.number(f.key), Value: f.value, Original: f.original})
		}
		for _, key := range p.lists {
			dr.lists[key] = true
		}
		dr.fields[i] = index.Distinct(fields)
	}
	return dr
}

// number returns the index of a key in names.
func (dr *draft) number(key string) int64 {
	number, ok := dr.numbers[key]
	if !ok {
		number = int64(len(dr.names))
		dr.names = append(dr.names, key)
		dr.numbers[key] = number
	}
	return number
}

// compose computes the batch of a draft, once relations and the numbers of keys are
// known. The diffs of existing entities are still missing.
func (dr *draft) compose(l *linkage, kids map[string]int64) {
	numbers := make([]int64, len(dr.names))
	for i, name := range dr.names {
		numbers[i] = kids[name]
	}
	c := &rowBatch{records: make([]record, 0, len(dr.entries)), postings: postingChanges{}}
	for i := range dr.entries {
		e := &dr.entries[i]
		r := record{id: e.id, ref: e.ref, uid: e.uid, provider: e.provider, parent: e.parent, hash: e.hash, Body: dr.bodies[i]}
		r.words = strings.Join(dr.words[i], index.WordEnd)
		r.etag = r.Finish(r.hash, l.after[e.ref])
		links := linkFields(l.after[e.ref], kids)
		fields := make([]index.Field, 0, len(dr.fields[i])+len(links))
		for _, f := range dr.fields[i] {
			f.Kid = numbers[f.Kid]
			fields = append(fields, f)
		}
		r.packed, dr.fields[i] = index.Pack(append(fields, links...))
		c.records = append(c.records, r)
		if e.added {
			c.postings.add(uint32(i), index.Postings(dr.fields[i], dr.words[i]))
		}
	}
	dr.batch = c
}

// complete finishes a draft with what is in the database.
func (w *transaction) complete(ctx context.Context, dr *draft, l *linkage) (*rowBatch, error) {
	if dr.err != nil {
		return nil, dr.err
	}
	if dr.batch == nil {
		if err := w.intern(ctx, dr.keys(l)); err != nil {
			return nil, err
		}
		dr.compose(l, w.kids)
	}
	var updated []string
	for i := range dr.entries {
		if !dr.entries[i].added {
			updated = append(updated, dr.entries[i].ref)
		}
	}
	if err := w.assignIDs(ctx, dr, len(dr.entries)-len(updated)); err != nil {
		return nil, err
	}
	had, err := w.had(ctx, updated)
	if err != nil {
		return nil, err
	}
	for i := range dr.entries {
		if e := &dr.entries[i]; !e.added {
			before := had[e.ref]
			dr.batch.postings.diff(e.id, index.Postings(before.fields, before.words), index.Postings(dr.fields[i], dr.words[i]))
		}
	}
	return dr.batch, nil
}

// assignIDs assigns ids to the new entities of a draft, of which there are n. Its postings
// have the indices of entries until then.
func (w *transaction) assignIDs(ctx context.Context, dr *draft, n int) error {
	if n == 0 {
		return nil
	}
	next, err := w.newIDs(ctx, n)
	if err != nil {
		return err
	}
	for i := range dr.entries {
		if dr.entries[i].added {
			dr.batch.records[i].id = next
			next++
		}
	}
	for _, change := range dr.batch.postings {
		for i, at := range change.add {
			change.add[i] = dr.batch.records[at].id
		}
	}
	return nil
}

// keys returns all keys whose numbers are needed to write the draft.
func (dr *draft) keys(l *linkage) []string {
	return slices.Concat(dr.names, slices.Collect(maps.Keys(dr.lists)), l.keys)
}
