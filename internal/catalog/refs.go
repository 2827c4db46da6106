package catalog

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
)

const (
	// maxRefs is how many references a request may have.
	maxRefs = 10_000
	// batch is how many references are looked up at once.
	batch = 500
	// maxInMemory is the maximum size in bytes of a response that is built in memory.
	maxInMemory = 8 << 20
)

// entitiesByRefs handles POST /entities/by-refs.
func (c *Catalog) entitiesByRefs(w http.ResponseWriter, r *http.Request) error {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	var body struct {
		EntityRefs []string        `json:"entityRefs"`
		Fields     []string        `json:"fields"`
		Query      json.RawMessage `json:"query"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.EntityRefs == nil {
		return rest.Input("request/body must have required property 'entityRefs'")
	}
	if len(body.EntityRefs) > maxRefs {
		return rest.Input("request/body/entityRefs must NOT have more than %d items", maxRefs)
	}
	selected := selection{Query: body.Query, Filter: params["filter"]}
	filter, err := selected.filter()
	if err != nil {
		return err
	}
	s := itemsList
	if s.fields, err = query.NewFields(append(rest.List(params["fields"]), body.Fields...)); err != nil {
		return err
	}
	filter = query.AllOf(c.visible(r.Context()), filter)
	first := min(batch, len(body.EntityRefs))
	items, err := c.lookUp(r.Context(), body.EntityRefs[:first], filter)
	if err != nil {
		return err
	}
	others := body.EntityRefs[first:]
	if len(others) == 0 && bytesOf(items) <= maxInMemory {
		out, err := s.append(nil, items)
		if err != nil {
			return err
		}
		return rest.Write(w, r, rest.Content{Body: out})
	}
	return rest.WriteStream(w, r, rest.Streamed{Write: func(to io.Writer) error {
		out := bufio.NewWriterSize(to, 64<<10)
		separator, err := s.each(out, s.begin, items)
		for refs := range slices.Chunk(others, batch) {
			if err != nil {
				return err
			}
			if items, err = c.lookUp(r.Context(), refs, filter); err == nil {
				separator, err = s.each(out, separator, items)
			}
		}
		if err != nil {
			return err
		}
		// The writer keeps its first error, and Flush returns it.
		_, _ = out.WriteString(s.end)
		return out.Flush()
	}})
}

// each writes entities one after the other, each after a separator, and returns the
// separator for the next.
func (s shape) each(out *bufio.Writer, separator string, items []*store.Entity) (string, error) {
	one := shape{fields: s.fields}
	var text []byte
	for i := range items {
		var err error
		if text, err = one.append(append(text[:0], separator...), items[i:i+1]); err != nil {
			return "", err
		}
		if _, err := out.Write(text); err != nil {
			return "", err
		}
		separator = ","
	}
	return separator, nil
}

// bytesOf returns the total size of entities as they are written. An entity may occur
// many times, although it is in memory once.
func bytesOf(items []*store.Entity) (n int) {
	for _, e := range items {
		if e != nil {
			n += len(e.JSON)
		}
	}
	return n
}

// lookUp returns the entities of references, nil for those that do not exist, do not
// pass the filter, or are not valid references.
func (c *Catalog) lookUp(ctx context.Context, refs []string, filter filter.Filter) ([]*store.Entity, error) {
	names := make([]string, 0, len(refs))
	place := make([]int, len(refs))
	for i, ref := range refs {
		place[i] = -1
		if name, err := entity.ParseRef(ref, "", ""); err == nil && rest.IsText(ref) {
			place[i] = len(names)
			names = append(names, name.String())
		}
	}
	found, err := c.store.GetMany(ctx, names)
	if err != nil {
		return nil, err
	}
	passes, err := c.passing(ctx, found, filter)
	if err != nil {
		return nil, err
	}
	items := make([]*store.Entity, len(refs))
	for i, p := range place {
		switch {
		case p < 0 || found[p] == nil:
		case passes == nil:
			items[i] = found[p]
		default:
			items[i] = passes[found[p].Ref]
		}
	}
	return items, nil
}

// passing returns those of the entities that pass a filter by their references, or nil
// if all pass. They are in the version that passed: the caller may not be allowed to
// read an earlier one.
func (c *Catalog) passing(ctx context.Context, es []*store.Entity, f filter.Filter) (map[string]*store.Entity, error) {
	if f.Op == filter.OpTrue {
		return nil, nil
	}
	passes := map[string]*store.Entity{}
	var uids []string
	for _, e := range es {
		if e != nil {
			uids = append(uids, e.UID)
		}
	}
	if len(uids) == 0 {
		return passes, nil
	}
	slices.Sort(uids)
	q := store.Query{Filter: filter.All(filter.In("metadata.uid", slices.Compact(uids)...), f), Limit: len(uids)}
	page, err := c.store.Query(ctx, q)
	if err != nil {
		return nil, clientError(err)
	}
	for i := range page.Items {
		passes[page.Items[i].Ref] = &page.Items[i]
	}
	return passes, nil
}
