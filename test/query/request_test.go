package query

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// form is an endpoint.
type form string

const (
	list            form = "GET /entities"
	byQuery         form = "GET /entities/by-query"
	byPredicate     form = "POST /entities/by-query"
	facetsByFilter  form = "GET /entity-facets"
	facetsPredicate form = "POST /entity-facets"
)

// order is a field to sort by.
type order struct {
	field string
	desc  bool
}

func (o order) direction() string {
	if o.desc {
		return "desc"
	}
	return "asc"
}

// request is a query, for all catalogs.
type request struct {
	form form
	// filters are the values of the parameter filter.
	filters []string
	// predicate is the query of a POST request, nil if there is none.
	predicate any
	orders    []order
	// term is a full text filter; textFields are its fields, nil if they are not given.
	term       string
	textFields []string
	// limit is -1 if it is not given.
	limit, offset int
	noTotal       bool
	fields        []string
	facets        []string
	// forward are the pages that are turned after the first one.
	forward []bool
}

// facets reports whether the request is for facets.
func (r *request) isFacets() bool { return r.form == facetsByFilter || r.form == facetsPredicate }

// brief are the fields that a reference consists of.
var brief = []string{"kind", "metadata.name", "metadata.namespace"}

// whole returns the request for the references of everything that it selects, in one page.
func (r *request) whole() *request {
	all := *r
	all.limit, all.offset, all.forward, all.fields = 1000, 0, nil, brief
	return &all
}

// String describes the request in one line.
func (r *request) String() string {
	_, path, body := r.http()
	text := string(r.form) + " " + path
	if body != nil {
		text += " " + string(body)
	}
	if len(r.forward) > 0 {
		turns := make([]string, len(r.forward))
		for i, forward := range r.forward {
			turns[i] = "previous"
			if forward {
				turns[i] = "next"
			}
		}
		text += " then " + strings.Join(turns, ", ")
	}
	return text
}

// http returns the method, the path with its parameters, and the body.
func (r *request) http() (method, path string, body []byte) {
	switch r.form {
	case byPredicate, facetsPredicate:
		return r.post()
	case list, byQuery, facetsByFilter:
	}
	v := url.Values{}
	add := func(key string, values ...string) {
		for _, value := range values {
			v.Add(key, value)
		}
	}
	add("filter", r.filters...)
	if r.form == facetsByFilter {
		add("facet", r.facets...)
		return http.MethodGet, "/entity-facets?" + v.Encode(), nil
	}
	for _, o := range r.orders {
		if r.form == list {
			add("order", o.direction()+":"+o.field)
			continue
		}
		add("orderField", o.field+","+o.direction())
	}
	if r.term != "" {
		add("fullTextFilterTerm", r.term)
	}
	if r.textFields != nil {
		add("fullTextFilterFields", strings.Join(r.textFields, ","))
	}
	if r.limit >= 0 {
		add("limit", strconv.Itoa(r.limit))
	}
	if r.offset > 0 {
		add("offset", strconv.Itoa(r.offset))
	}
	if r.noTotal {
		add("totalItems", "exclude")
	}
	if r.fields != nil {
		add("fields", strings.Join(r.fields, ","))
	}
	if r.form == list {
		return http.MethodGet, "/entities?" + v.Encode(), nil
	}
	return http.MethodGet, "/entities/by-query?" + v.Encode(), nil
}

func (r *request) post() (method, path string, body []byte) {
	b := map[string]any{}
	if r.predicate != nil {
		b["query"] = r.predicate
	}
	path = "/entity-facets"
	if r.form == facetsPredicate {
		b["facets"] = r.facets
		return http.MethodPost, path, encode(b)
	}
	if r.orders != nil {
		b["orderBy"] = r.orderFields()
	}
	if r.term != "" {
		b["fullTextFilter"] = r.text()
	}
	if r.limit >= 0 {
		b["limit"] = r.limit
	}
	if r.offset > 0 {
		b["offset"] = r.offset
	}
	if r.noTotal {
		b["totalItems"] = "exclude"
	}
	if r.fields != nil {
		b["fields"] = r.fields
	}
	return http.MethodPost, "/entities/by-query", encode(b)
}

func (r *request) orderFields() []any {
	var all []any
	for _, o := range r.orders {
		all = append(all, map[string]any{"field": o.field, "order": o.direction()})
	}
	return all
}

func (r *request) text() map[string]any {
	text := map[string]any{"term": r.term}
	if r.textFields != nil {
		text["fields"] = r.textFields
	}
	return text
}

// memory returns the method of the in-memory client and its argument. It has no default
// limit, and no parser for filters.
func (r *request) memory() (method string, arg map[string]any) {
	arg = map[string]any{}
	if sets := r.sets(); sets != nil {
		arg["filter"] = sets
	}
	if r.predicate != nil {
		arg["query"] = r.predicate
	}
	if r.isFacets() {
		arg["facets"] = r.facets
		return "getEntityFacets", arg
	}
	if r.fields != nil {
		arg["fields"] = r.fields
	}
	if r.offset > 0 {
		arg["offset"] = r.offset
	}
	if r.form == list {
		if r.orders != nil {
			arg["order"] = r.orderFields()
		}
		if r.limit >= 0 {
			arg["limit"] = r.limit
		}
		return "getEntities", arg
	}
	if r.orders != nil {
		arg["orderFields"] = r.orderFields()
	}
	if r.term != "" {
		arg["fullTextFilter"] = r.text()
	}
	if arg["limit"] = r.limit; r.limit < 0 {
		arg["limit"] = 20
	}
	return "queryEntities", arg
}

// statement is a condition of a filter.
type statement struct {
	key, value string
	hasValue   bool
}

// statements returns the conditions of a filter.
func statements(filter string) []statement {
	var all []statement
	for text := range strings.SplitSeq(filter, ",") {
		key, value, hasValue := strings.Cut(strings.TrimSpace(text), "=")
		if key = strings.TrimSpace(key); key != "" {
			all = append(all, statement{key, strings.TrimSpace(value), hasValue})
		}
	}
	return all
}

// sets returns the filters as objects: a key has one value, several, or null if it must
// exist.
func (r *request) sets() []map[string]any {
	var all []map[string]any
	for _, filter := range r.filters {
		set := map[string]any{}
		for _, s := range statements(filter) {
			was, again := set[s.key]
			switch {
			case !s.hasValue:
				set[s.key] = was
			case !again || was == nil:
				set[s.key] = s.value
			default:
				several, ok := was.([]any)
				if !ok {
					several = []any{was}
				}
				set[s.key] = append(several, s.value)
			}
		}
		if len(set) > 0 {
			all = append(all, set)
		}
	}
	return all
}

func encode(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// The values are plain.
	_ = e.Encode(v)
	return []byte(strings.TrimSpace(b.String()))
}

// conditions replaces each condition on a field of a predicate by what replace returns,
// which is another predicate.
func conditions(p any, replace func(key string, condition any) any) any {
	m, ok := p.(map[string]any)
	if !ok {
		return p
	}
	var all []any
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v := m[key]
		if !strings.HasPrefix(key, "$") {
			all = append(all, replace(key, v))
			continue
		}
		switch of := v.(type) {
		case []any:
			parts := make([]any, len(of))
			for i := range of {
				parts[i] = conditions(of[i], replace)
			}
			v = parts
		default:
			v = conditions(of, replace)
		}
		all = append(all, map[string]any{key: v})
	}
	switch len(all) {
	case 0:
		return m
	case 1:
		return all[0]
	}
	return map[string]any{"$all": all}
}
