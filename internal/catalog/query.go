package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
)

const (
	// defaultLimit is the length of a page if the client sets none.
	defaultLimit = 20
	// maxQueryLimit is the maximum limit that a client may set.
	maxQueryLimit = 10_000
)

// selection is what a query selects, as clients write it, so that a cursor can hold it.
type selection struct {
	// Query is only set if the request had it: the portal's clients look for it in a
	// cursor, and send such a cursor the way they sent the query.
	Query  json.RawMessage `json:"query,omitempty"`
	Filter []string        `json:"filter,omitempty"`
	Order  []store.Order   `json:"order,omitempty"`
	Text   store.Text      `json:"text"`
}

// filter returns the filter of the selection.
func (s *selection) filter() (filter.Filter, error) {
	predicate, err := query.ParsePredicate(s.Query)
	if err != nil {
		return filter.Filter{}, err
	}
	filter, err := query.ParseFilters(s.Filter)
	return query.AllOf(predicate, filter), err
}

// cursor is a position in a query, and everything needed to continue from there.
type cursor struct {
	selection
	At   *store.Position `json:"at"`
	Back bool            `json:"back,omitempty"`
	// First is where the first page began. There is no page before it.
	First *store.Position `json:"first"`
	// Total is the number of entities when the query began; -1 if the client excluded it.
	Total int `json:"total"`
	// Seen identifies what the caller could see. A caller who sees other entities has
	// another total.
	Seen string `json:"seen"`
}

// request is a query from a GET or a POST request.
type request struct {
	selection
	cursor    string
	hasCursor bool
	fields    []string
	limit     int
	offset    int
	noTotal   bool
}

// queryEntities handles GET /entities/by-query.
func (c *Catalog) queryEntities(w http.ResponseWriter, r *http.Request) error {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	req := request{fields: rest.List(params["fields"]), selection: selection{Filter: params["filter"]}}
	if req.Order, err = query.ParseOrderFields(params["orderField"]); err != nil {
		return err
	}
	if req.Text, err = textOf(params); err != nil {
		return err
	}
	if req.limit, err = rest.Count(params, "limit", defaultLimit); err != nil {
		return err
	}
	if req.offset, err = rest.Count(params, "offset", 0); err != nil {
		return err
	}
	total, _, err := rest.One(params, "totalItems")
	if err != nil {
		return err
	}
	if req.noTotal, err = wantsNoTotal("request/query", total); err != nil {
		return err
	}
	if req.cursor, req.hasCursor, err = rest.One(params, "cursor"); err != nil {
		return err
	}
	return c.answerQuery(w, r, &req)
}

// textOf reads a search from the parameters of a request.
func textOf(params url.Values) (store.Text, error) {
	term, _, err := rest.One(params, "fullTextFilterTerm")
	if err != nil {
		return store.Text{}, err
	}
	return query.ParseText(term, rest.List(params["fullTextFilterFields"]))
}

// fullText is a search in the body of a request.
type fullText struct {
	Term   string   `json:"term"`
	Fields []string `json:"fields"`
}

func (t fullText) read() (store.Text, error) { return query.ParseText(t.Term, t.Fields) }

func wantsNoTotal(where, total string) (bool, error) {
	if total != "" && total != "include" && total != "exclude" {
		return false, rest.Input("%s/totalItems must be equal to one of the allowed values: include, exclude", where)
	}
	return total == "exclude", nil
}

// postQuery handles POST /entities/by-query.
func (c *Catalog) postQuery(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Cursor  *string `json:"cursor"`
		Limit   *int    `json:"limit"`
		Offset  int     `json:"offset"`
		OrderBy []struct {
			Field string  `json:"field"`
			Order *string `json:"order"`
		} `json:"orderBy"`
		FullTextFilter fullText        `json:"fullTextFilter"`
		Fields         []string        `json:"fields"`
		TotalItems     string          `json:"totalItems"`
		Query          json.RawMessage `json:"query"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	req := request{fields: body.Fields, limit: defaultLimit, offset: body.Offset, selection: selection{Query: body.Query}}
	if body.Limit != nil {
		req.limit = *body.Limit
	}
	if body.Cursor != nil {
		req.cursor, req.hasCursor = *body.Cursor, true
	}
	for _, at := range []struct {
		name string
		n    int
	}{{"limit", req.limit}, {"offset", req.offset}} {
		if at.n < 0 {
			return rest.Input("request/body/%s must be >= 0", at.name)
		}
	}
	for _, by := range body.OrderBy {
		direction := "asc"
		if by.Order != nil {
			direction = *by.Order
		}
		o, err := query.ParseOrder(by.Field, direction)
		if err != nil {
			return err
		}
		req.Order = append(req.Order, o)
	}
	err := query.CheckOrders(req.Order)
	if err != nil {
		return err
	}
	if req.Text, err = body.FullTextFilter.read(); err != nil {
		return err
	}
	if req.noTotal, err = wantsNoTotal("request/body", body.TotalItems); err != nil {
		return err
	}
	return c.answerQuery(w, r, &req)
}

// answerQuery responds with a page of a query.
func (c *Catalog) answerQuery(w http.ResponseWriter, r *http.Request, req *request) error {
	if req.limit > maxQueryLimit {
		return rest.Input("The limit must be at most %d; use the cursors of the response for the rest", maxQueryLimit)
	}
	s := shape{begin: `{"items":[`, end: "]"}
	var err error
	if s.fields, err = query.NewFields(req.fields); err != nil {
		return err
	}
	at, err := c.openCursor(r.Context(), req)
	if err != nil {
		return err
	}
	filter, err := at.filter()
	if err != nil {
		return err
	}
	visible := c.visible(r.Context())
	seen, err := fingerprint(visible)
	if err != nil {
		return err
	}
	q := store.Query{
		Filter: query.AllOf(visible, filter), Text: at.Text, Order: at.Order,
		// A page is held in memory. The cursor leads to the rest.
		Limit: min(req.limit, maxBuffered), Offset: req.offset, Total: at.Total >= 0 && at.Seen != seen,
	}
	at.Seen = seen
	if at.At != nil {
		q.Position, q.Backward, q.Offset = at.At, at.Back, 0
	}
	page, err := c.store.Query(r.Context(), q)
	if err != nil {
		return clientError(err)
	}
	if q.Total {
		at.Total = page.Total
	}
	if s.end, err = c.pageInfo(r.Context(), at, page); err != nil {
		return err
	}
	return s.write(w, r, pointers(page.Items))
}

// openCursor returns where a query begins or continues.
func (c *Catalog) openCursor(ctx context.Context, req *request) (*cursor, error) {
	if !req.hasCursor {
		at := &cursor{selection: req.selection}
		if req.noTotal {
			at.Total = -1
		}
		return at, nil
	}
	if req.cursor == "" {
		return nil, rest.Input("Cursor cannot be empty")
	}
	at := &cursor{}
	err := c.Unseal(ctx, "query", req.cursor, at)
	if errors.Is(err, query.ErrSeal) || err == nil && (at.At == nil || len(at.At.Values) != len(at.Order)) {
		return nil, rest.Input("Malformed cursor: %s", query.ErrSeal)
	}
	if err != nil {
		return nil, err
	}
	return at, at.checkSelection(&req.selection)
}

// checkSelection refuses a selection that differs from that of the cursor. An empty selection is
// accepted.
func (at *cursor) checkSelection(s *selection) error {
	mine, err := at.filter()
	if err != nil {
		return err
	}
	given, err := s.filter()
	if err != nil {
		return err
	}
	var what string
	switch {
	case given.Op != filter.OpTrue && !reflect.DeepEqual(mine, given):
		what = "filter"
	case len(s.Order) > 0 && !slices.Equal(s.Order, at.Order):
		what = "order"
	case s.Text.Term != "" && !reflect.DeepEqual(s.Text, at.Text):
		what = "fullTextFilter"
	default:
		return nil
	}
	return rest.Input("Malformed cursor: created by a query with another %[1]s; leave %[1]s out", what)
}

// pageInfo returns what follows the items of a page: the total number of items, and the
// cursors of the next and previous pages.
func (c *Catalog) pageInfo(ctx context.Context, at *cursor, page store.Page) (string, error) {
	next, prev := at.neighbours(page)
	out := fmt.Appendf(nil, `],"totalItems":%d,"pageInfo":{`, max(at.Total, 0))
	if next != nil {
		text, err := c.Seal(ctx, "query", next)
		if err != nil {
			return "", err
		}
		out = fmt.Appendf(out, `"nextCursor":%s`, strconv.Quote(text))
	}
	if prev != nil {
		text, err := c.Seal(ctx, "query", prev)
		if err != nil {
			return "", err
		}
		if next != nil {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `"prevCursor":%s`, strconv.Quote(text))
	}
	return string(append(out, "}}"...)), nil
}

// neighbours returns the cursors of the next and previous pages, nil where there is
// none.
func (at *cursor) neighbours(page store.Page) (next, prev *cursor) {
	if len(page.Items) == 0 {
		return nil, nil
	}
	first := at.First
	if at.At == nil {
		first = page.First
	}
	// A page before a cursor is followed by the page of that cursor.
	if page.More || at.Back {
		next = &cursor{selection: at.selection, At: page.Last, First: first, Total: at.Total, Seen: at.Seen}
	}
	if at.At != nil && (page.More || !at.Back) && !reflect.DeepEqual(page.First, first) {
		prev = &cursor{selection: at.selection, At: page.First, Back: true, First: first, Total: at.Total, Seen: at.Seen}
	}
	return next, prev
}
