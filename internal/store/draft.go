package store

import (
	"context"
	"slices"
	"strings"
)

// draft is what can be told of entries without the database. It is made while
// the database is busy with those before.
type draft struct {
	entries []entry
	bodies  []served
	words   [][]string
	// fields are those of entities that are in the store, whose rows are to be
	// compared.
	fields [][]field
	// rows and terms are those of new entities, in order.
	rows  []row
	terms []term
	// names are the keys of fields, whose numbers are places in it.
	names   []string
	numbers map[string]int
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
		entries: entries, bodies: make([]served, n), words: make([][]string, n), fields: make([][]field, n), numbers: map[string]int{},
	}
	var fields []field
	for i := range entries {
		e := &entries[i]
		p, err := e.prepared()
		if err != nil {
			dr.err = err
			return dr
		}
		dr.bodies[i], dr.words[i] = p.blank.serve(e.uid, len(p.edges)), p.words
		fields = append(fields[:0], field{dr.number(keyUID), e.uid, ""})
		for _, f := range p.fields {
			fields = append(fields, field{dr.number(f.key), f.value, f.original})
		}
		if !e.added {
			dr.fields[i] = slices.Clone(fields)
			continue
		}
		for _, f := range distinctFields(fields) {
			dr.rows = append(dr.rows, row{f, e.ref})
		}
		for _, w := range dr.words[i] {
			dr.terms = append(dr.terms, term{w, e.ref})
		}
	}
	slices.SortFunc(dr.rows, compareRows)
	slices.SortFunc(dr.terms, compareTerms)
	return dr
}

// number returns the number of a key.
func (dr *draft) number(key string) int {
	number, ok := dr.numbers[key]
	if !ok {
		number = len(dr.names)
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
	// From here on the numbers of keys are those of the transaction.
	numbers := make([]int, len(dr.names))
	for i, name := range dr.names {
		numbers[i] = w.number(name)
	}
	for i := range dr.rows {
		dr.rows[i].key = numbers[dr.rows[i].key]
	}
	c := &chunk{newRows: dr.rows, newTerms: dr.terms, records: make([]record, 0, len(dr.entries))}
	for i := range dr.entries {
		e := &dr.entries[i]
		r := record{ref: e.ref, uid: e.uid, provider: e.provider, parent: e.parent, hash: e.hash, served: dr.bodies[i]}
		r.words = strings.Join(dr.words[i], wordEnd)
		r.etag = r.finish(l.after[e.ref])
		c.records = append(c.records, r)
		fields := w.linkFields(l.after[e.ref])
		if e.added {
			c.diff(e.ref, nil, fields)
			continue
		}
		for _, f := range dr.fields[i] {
			f.key = numbers[f.key]
			fields = append(fields, f)
		}
		c.diff(e.ref, hadFields[e.ref], fields)
		c.diffWords(e.ref, hadWords[e.ref], dr.words[i])
	}
	return c, nil
}
