package store

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// draft is what can be told of entries without the database. It is made while
// the database is busy with those before.
type draft struct {
	entries []entry
	bodies  []served
	words   [][]string
	// fields are those of each entity, without its relations.
	fields [][]stored
	// rows and terms are those of new entities, in order.
	rows  []row
	terms []term
	// names are the keys of fields, whose numbers are places in it, and lists
	// the marks of lists.
	names   []string
	numbers map[string]int64
	lists   map[string]bool
	err     error
}

// drafts makes drafts of all that is put, one after the other, until ctx ends.
func (d *delta) drafts(ctx context.Context) <-chan *draft {
	out := make(chan *draft)
	go func() {
		defer close(out)
		for part := range slices.Chunk(d.put, chunkSize) {
			select {
			case out <- draftOf(part):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func draftOf(entries []entry) *draft {
	n := len(entries)
	dr := &draft{
		entries: entries, bodies: make([]served, n), words: make([][]string, n), fields: make([][]stored, n),
		numbers: map[string]int64{}, lists: map[string]bool{},
	}
	// rows and terms count those of new entities.
	var byKey [][]row
	byWord := map[string][]term{}
	rows, terms := 0, 0
	for i := range entries {
		e := &entries[i]
		p, err := e.prepared()
		if err != nil {
			dr.err = err
			return dr
		}
		dr.bodies[i], dr.words[i] = p.blank.serve(e.uid, len(p.edges)), p.words
		fields := append(make([]stored, 0, len(p.fields)+1), stored{dr.number(keyUID), e.uid, ""})
		for _, f := range p.fields {
			fields = append(fields, stored{dr.number(f.key), f.value, f.original})
		}
		for _, key := range p.lists {
			dr.lists[key] = true
		}
		dr.fields[i] = distinctFields(fields)
		if !e.added {
			continue
		}
		for _, f := range dr.fields[i] {
			for len(byKey) <= int(f.kid) {
				byKey = append(byKey, nil)
			}
			byKey[f.kid] = append(byKey[f.kid], row{f, e.ref})
		}
		for _, w := range dr.words[i] {
			byWord[w] = append(byWord[w], term{w, e.ref})
		}
		rows, terms = rows+len(dr.fields[i]), terms+len(dr.words[i])
	}
	dr.rows = inOrder(make([]row, 0, rows), byKey)
	dr.terms = make([]term, 0, terms)
	for _, w := range slices.Sorted(maps.Keys(byWord)) {
		dr.terms = append(dr.terms, byWord[w]...)
	}
	return dr
}

// inOrder appends rows, which are those of one key after the other. Entries come
// in the order of their references, and most keys have one value for all of them,
// or values that go by the reference: what is in order need not be sorted.
func inOrder(rows []row, byKey [][]row) []row {
	for _, some := range byKey {
		if !slices.IsSortedFunc(some, compareRows) {
			slices.SortFunc(some, compareRows)
		}
		rows = append(rows, some...)
	}
	return rows
}

// number returns the number of a key.
func (dr *draft) number(key string) int64 {
	number, ok := dr.numbers[key]
	if !ok {
		number = int64(len(dr.names))
		dr.names = append(dr.names, key)
		dr.numbers[key] = number
	}
	return number
}

// compose makes a chunk of a draft, now that relations are known.
func (w *writer) compose(ctx context.Context, dr *draft, l *linkage) (*chunk, error) {
	if dr.err != nil {
		return nil, dr.err
	}
	var updated []string
	for i := range dr.entries {
		if !dr.entries[i].added {
			updated = append(updated, dr.entries[i].ref)
		}
	}
	hadFields, hadWords, err := w.had(ctx, updated)
	if err != nil {
		return nil, err
	}
	// From here on the numbers of keys are those of the database.
	if err := w.intern(ctx, dr.names, slices.Collect(maps.Keys(dr.lists)), l.keys); err != nil {
		return nil, err
	}
	kids := make([]int64, len(dr.names))
	for i, name := range dr.names {
		kids[i] = w.kids[name]
	}
	for i := range dr.rows {
		dr.rows[i].kid = kids[dr.rows[i].kid]
	}
	c := &chunk{newRows: dr.rows, newTerms: dr.terms, records: make([]record, 0, len(dr.entries))}
	for i := range dr.entries {
		e := &dr.entries[i]
		r := record{ref: e.ref, uid: e.uid, provider: e.provider, parent: e.parent, hash: e.hash, served: dr.bodies[i]}
		r.words = strings.Join(dr.words[i], wordEnd)
		r.etag = r.finish(l.after[e.ref])
		links := w.linkFields(l.after[e.ref])
		fields := make([]stored, 0, len(dr.fields[i])+len(links))
		for _, f := range dr.fields[i] {
			f.kid = kids[f.kid]
			fields = append(fields, f)
		}
		r.packed, fields = pack(append(fields, links...))
		c.records = append(c.records, r)
		if e.added {
			for _, f := range links {
				c.addRows = append(c.addRows, row{f, e.ref})
			}
			continue
		}
		c.diff(e.ref, hadFields[e.ref], fields)
		c.diffWords(e.ref, hadWords[e.ref], dr.words[i])
	}
	return c, nil
}
