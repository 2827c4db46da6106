package catalog

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
)

// longest is the timeout of a listing of everything, for slow clients.
const longest = 10 * time.Minute

// Routes returns the endpoints that read entities, and the one that deletes an entity,
// below /api/catalog.
func (c *Catalog) Routes() []rest.Route {
	const byName = "/entities/by-name/{kind}/{namespace}/{name}"
	return []rest.Route{
		{Method: http.MethodGet, Path: "/entities", Handle: c.listEntities(filter.Filter{}), Timeout: longest},
		{Method: http.MethodGet, Path: "/entities/by-query", Handle: c.queryEntities},
		{Method: http.MethodPost, Path: "/entities/by-query", Handle: c.postQuery},
		{Method: http.MethodGet, Path: "/entities/by-uid/{uid}", Handle: c.entityByUID},
		{Method: http.MethodDelete, Path: "/entities/by-uid/{uid}", Handle: c.deleteByUID},
		{Method: http.MethodGet, Path: byName, Handle: c.entityByName},
		{Method: http.MethodGet, Path: byName + "/ancestry", Handle: c.ancestry},
		{Method: http.MethodPost, Path: "/entities/by-refs", Handle: c.entitiesByRefs},
		{Method: http.MethodGet, Path: "/entity-facets", Handle: c.facets},
		{Method: http.MethodPost, Path: "/entity-facets", Handle: c.postFacets},
		{Method: http.MethodGet, Path: "/recent", Handle: c.recent},
		{Method: http.MethodGet, Path: "/" + feedYAML.name, Handle: c.feed(feedYAML), Guests: true, Timeout: longest},
		{Method: http.MethodGet, Path: "/" + feedLines.name, Handle: c.feed(feedLines), Guests: true, Timeout: longest},
	}
}

// after is where the next page of a listing begins.
type after struct {
	// Of identifies what is listed, and in which order.
	Of    string         `json:"of"`
	At    store.Position `json:"at"`
	Limit int            `json:"limit"`
}

// OfKind returns a handler that responds like GET /entities, with only the entities of
// a kind.
func (c *Catalog) OfKind(kind string) rest.Handler {
	return c.listEntities(filter.In("kind", strings.ToLower(kind)))
}

// listEntities returns the handler of GET /entities for the entities that pass a filter.
func (c *Catalog) listEntities(filter filter.Filter) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return c.list(w, r, filter) }
}

// list responds with the entities that a request selects, among those that pass the
// filter.
func (c *Catalog) list(w http.ResponseWriter, r *http.Request, among filter.Filter) error {
	q, s, of, err := c.parseListing(r, among)
	if err != nil {
		return err
	}
	if q.Limit == store.NoLimit || q.Limit > maxBuffered {
		return c.stream(w, r, s, q, func(l *store.Listing) error {
			return c.linkNext(w, r, store.Page{Last: l.Last, More: l.Last != nil}, after{Of: of, Limit: q.Limit})
		})
	}
	page, err := c.store.Query(r.Context(), q)
	if err != nil {
		return clientError(err)
	}
	if err := c.linkNext(w, r, page, after{Of: of, Limit: q.Limit}); err != nil {
		return err
	}
	return s.write(w, r, pointers(page.Items))
}

// linkNext sets the Link header to the next page, if there is one.
func (c *Catalog) linkNext(w http.ResponseWriter, r *http.Request, page store.Page, next after) error {
	if !page.More || page.Last == nil {
		return nil
	}
	next.At = *page.Last
	text, err := c.Seal(r.Context(), "after", next)
	if err != nil {
		return err
	}
	w.Header().Set("Link", link(r, text))
	return nil
}

// parseListing reads the parameters of a listing. of identifies what is listed.
func (c *Catalog) parseListing(r *http.Request, among filter.Filter) (q store.Query, s shape, of string, err error) {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return q, s, "", err
	}
	filter, err := query.ParseFilters(params["filter"])
	if err != nil {
		return q, s, "", err
	}
	filter = query.AllOf(among, filter)
	if q.Order, err = query.ParseOrders(params["order"]); err != nil {
		return q, s, "", err
	}
	if q.Limit, err = rest.Count(params, "limit", store.NoLimit); err != nil {
		return q, s, "", err
	}
	if q.Offset, err = rest.Count(params, "offset", 0); err != nil {
		return q, s, "", err
	}
	s = plainList
	if params.Get("shape") == "items" {
		s = itemsList
	}
	if s.fields, err = query.NewFields(rest.List(params["fields"])); err != nil {
		return q, s, "", err
	}
	if of, err = fingerprint([]any{filter, q.Order}); err != nil {
		return q, s, "", err
	}
	if text, given, err := rest.One(params, "after"); err != nil || given {
		if err == nil {
			err = c.continueAfter(r, text, of, &q)
		}
		if err != nil {
			return q, s, "", err
		}
	}
	q.Filter = query.AllOf(c.visible(r.Context()), filter)
	return q, s, of, nil
}

// continueAfter makes a query continue after an earlier one. A limit in the request overrides
// that of the cursor.
func (c *Catalog) continueAfter(r *http.Request, text, of string, q *store.Query) error {
	var a after
	err := c.Unseal(r.Context(), "after", text, &a)
	if errors.Is(err, query.ErrSeal) {
		return rest.Input("Malformed after cursor, could not be parsed")
	}
	if err != nil {
		return err
	}
	if a.Of != of || len(a.At.Values) != len(q.Order) {
		return rest.Input("Malformed after cursor, it belongs to a listing with another filter or order")
	}
	q.Position, q.Offset = &a.At, 0
	if q.Limit == store.NoLimit {
		q.Limit = a.Limit
	}
	return nil
}
