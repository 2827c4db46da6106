package write

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/store/body"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// batchEntities is how many entities are composed before they are written, which bounds
// the memory for it: the next ones are drafted meanwhile. Within a batch, the rows of a
// table are written in index order.
const batchEntities = 1024

// record is a row of entities and of documents.
type record struct {
	ref, uid, provider, parent, hash, etag string
	words                                  string
	// packed are the fields.
	packed string
	body.Body
}

// row is a row of search. In a draft, the number of its key is an index into the names
// of the draft.
type row struct {
	index.Field
	ref string
}

func compareRows(a, b row) int {
	return cmp.Or(index.Compare(a.Field, b.Field), strings.Compare(a.ref, b.ref))
}

// term is a row of terms.
type term struct{ word, ref string }

func compareTerms(a, b term) int {
	return cmp.Or(strings.Compare(a.word, b.word), strings.Compare(a.ref, b.ref))
}

// rowBatch is what is written at once.
type rowBatch struct {
	records []record
	// newRows and newTerms are sorted.
	newRows  []row
	newTerms []term
	// Rows are removed before others are added.
	dropRows, addRows   []row
	dropTerms, addTerms []term
}

// diff adds the rows that turn before into after. Both are sorted and distinct.
func (c *rowBatch) diff(ref string, before, after []index.Field) {
	i := 0
	for _, f := range after {
		for ; i < len(before) && index.Compare(before[i], f) < 0; i++ {
			c.dropRows = append(c.dropRows, row{before[i], ref})
		}
		if i < len(before) && before[i] == f {
			i++
			continue
		}
		c.addRows = append(c.addRows, row{f, ref})
	}
	for ; i < len(before); i++ {
		c.dropRows = append(c.dropRows, row{before[i], ref})
	}
}

// diffWords is diff for words, both of which are sorted and distinct.
func (c *rowBatch) diffWords(ref string, before, after []string) {
	i := 0
	for _, w := range after {
		for ; i < len(before) && before[i] < w; i++ {
			c.dropTerms = append(c.dropTerms, term{before[i], ref})
		}
		if i < len(before) && before[i] == w {
			i++
			continue
		}
		c.addTerms = append(c.addTerms, term{w, ref})
	}
	for ; i < len(before); i++ {
		c.dropTerms = append(c.dropTerms, term{before[i], ref})
	}
}

// had returns the fields and words of entities that are in the store.
func (w *transaction) had(ctx context.Context, refs []string) (map[string][]index.Field, map[string][]string, error) {
	fields, words := map[string][]index.Field{}, map[string][]string{}
	err := w.fieldsOf(ctx, refs, func(ref string, had []index.Field) { fields[ref] = had })
	if err != nil {
		return nil, nil, err
	}
	err = w.wordsOf(ctx, refs, func(ref string, had []string) { words[ref] = had })
	return fields, words, err
}

// fieldsOf calls yield with the fields of entities that are in the store, which
// are sorted and distinct.
func (w *transaction) fieldsOf(ctx context.Context, refs []string, yield func(ref string, fields []index.Field)) error {
	return w.s.db.SelectIn(ctx, w.Ask, "SELECT ref, packed FROM fields WHERE ref IN ", refs, func(rows *db.Rows) error {
		var ref, packed string
		if err := rows.Scan(&ref, &packed); err != nil {
			return err
		}
		yield(ref, index.Unpack(packed))
		return nil
	})
}

// wordsOf calls yield with the words of entities that are in the store.
func (w *transaction) wordsOf(ctx context.Context, refs []string, yield func(ref string, words []string)) error {
	return w.s.db.SelectIn(ctx, w.Ask, "SELECT ref, words FROM documents WHERE ref IN ", refs, func(rows *db.Rows) error {
		var ref, words string
		if err := rows.Scan(&ref, &words); err != nil {
			return err
		}
		yield(ref, strings.Split(words, index.WordEnd))
		return nil
	})
}

// write writes a batch.
func (w *transaction) write(ctx context.Context, c *rowBatch) error {
	if err := w.writeRecords(ctx, c.records); err != nil {
		return err
	}
	if err := w.writeRows(ctx, c); err != nil {
		return err
	}
	return w.writeTerms(ctx, c)
}

func (w *transaction) writeRecords(ctx context.Context, records []record) error {
	// An entity changes when its document does, but not when only its relations do. A
	// migration may have cleared the hash.
	err := w.Insert(ctx, "entities (ref, uid, provider, parent, hash, etag, created_at, changed_at)",
		` ON CONFLICT (ref) DO UPDATE SET provider = excluded.provider, parent = excluded.parent, hash = excluded.hash,
		etag = excluded.etag, changed_at = CASE WHEN entities.hash NOT IN ('', excluded.hash) THEN excluded.changed_at ELSE entities.changed_at END`,
		8, len(records), func(i int, args []any) []any {
			r := &records[i]
			return append(args, r.ref, r.uid, r.provider, r.parent, r.hash, r.etag, w.now, w.now)
		})
	if err != nil {
		return err
	}
	err = w.Insert(ctx, "documents (ref, words, etag_at, relations_at, body)",
		` ON CONFLICT (ref) DO UPDATE SET words = excluded.words, etag_at = excluded.etag_at,
		relations_at = excluded.relations_at, body = excluded.body`,
		5, len(records), func(i int, args []any) []any {
			r := &records[i]
			return append(args, r.ref, r.words, r.ETagAt, r.RelationsAt, r.JSON)
		})
	if err != nil {
		return err
	}
	for i := range records {
		w.changed = append(w.changed, records[i].ref)
	}
	return w.Insert(ctx, "fields (ref, packed)", " ON CONFLICT (ref) DO UPDATE SET packed = excluded.packed",
		2, len(records), func(i int, args []any) []any { return append(args, records[i].ref, records[i].packed) })
}

func (w *transaction) writeRows(ctx context.Context, c *rowBatch) error {
	var values []string
	for i, r := range c.dropRows {
		values = append(values, r.Value)
		if next := i + 1; next < len(c.dropRows) && c.dropRows[next].ref == r.ref && c.dropRows[next].Kid == r.Kid {
			continue
		}
		err := w.DeleteIn(ctx, "search", "value", values, db.Equal{Column: "kid", Value: r.Kid}, db.Equal{Column: "ref", Value: r.ref})
		if err != nil {
			return err
		}
		values = values[:0]
	}
	slices.SortFunc(c.addRows, compareRows)
	for _, rows := range [][]row{c.newRows, c.addRows} {
		err := w.InsertRuns(ctx, "search (kid, value, original, ref)", 4, len(rows), func(i, j int) bool {
			return rows[i].Field == rows[j].Field
		}, func(i int, args []any) []any {
			r := &rows[i]
			if r.Original == "" {
				return append(args, r.Kid, r.Value, nil, r.ref)
			}
			return append(args, r.Kid, r.Value, r.Original, r.ref)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *transaction) writeTerms(ctx context.Context, c *rowBatch) error {
	var words []string
	for i, t := range c.dropTerms {
		words = append(words, t.word)
		if next := i + 1; next < len(c.dropTerms) && c.dropTerms[next].ref == t.ref {
			continue
		}
		if err := w.DeleteIn(ctx, "terms", "word", words, db.Equal{Column: "ref", Value: t.ref}); err != nil {
			return err
		}
		words = words[:0]
	}
	slices.SortFunc(c.addTerms, compareTerms)
	for _, terms := range [][]term{c.newTerms, c.addTerms} {
		err := w.InsertRuns(ctx, "terms (word, ref)", 2, len(terms),
			func(i, j int) bool { return terms[i].word == terms[j].word },
			func(i int, args []any) []any { return append(args, terms[i].word, terms[i].ref) })
		if err != nil {
			return err
		}
	}
	return nil
}

// forget removes the fields and words of entities, which must still exist.
func (w *transaction) forget(ctx context.Context, refs []string) error {
	var c rowBatch
	if err := w.fieldsOf(ctx, refs, func(ref string, fields []index.Field) { c.diff(ref, fields, nil) }); err != nil {
		return err
	}
	if err := w.wordsOf(ctx, refs, func(ref string, words []string) { c.diffWords(ref, words, nil) }); err != nil {
		return err
	}
	if err := w.writeRows(ctx, &c); err != nil {
		return err
	}
	return w.writeTerms(ctx, &c)
}
