package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

const (
	// searchType is the only type of documents that a search finds.
	searchType = "software-catalog"
	// searchLimit is the length of a page of results if the client sets none, and
	// maxSearchLimit the longest.
	searchLimit    = 25
	maxSearchLimit = 100
	// maxSearchTerm and maxSearchWords limit a search term, in characters and words.
	maxSearchTerm  = 256
	maxSearchWords = 8
)

// SearchPlugin returns the endpoint below /api/search.
func (c *Catalog) SearchPlugin() rest.Plugin {
	return rest.Plugin{Names: []string{"search"}, Routes: []rest.Route{{Method: http.MethodGet, Path: "/query", Handle: c.search}}}
}

// searchFilters are the fields of documents that results can be filtered by, with the
// fields of entities.
var searchFilters = map[string]string{
	"kind": "kind", "namespace": "metadata.namespace", "name": "metadata.name", "type": "spec.type", "componentType": "spec.type",
	"lifecycle": "spec.lifecycle", "owner": "spec.owner", "system": "spec.system", "tags": "metadata.tags", "readiness": "spec.readiness",
}

// searched is a search as the client wrote it.
type searched struct {
	Term    string
	Filters map[string][]string
}

// resultCursor is where a page of results begins.
type resultCursor struct {
	// Of identifies the search.
	Of     string `json:"of"`
	Offset int    `json:"offset"`
}

// document is an entity as a result of a search.
type document struct {
	Title         string `json:"title"`
	Text          string `json:"text"`
	Location      string `json:"location"`
	EntityRef     string `json:"entityRef"`
	Kind          string `json:"kind"`
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	ComponentType string `json:"componentType"`
	Type          string `json:"type"`
	Lifecycle     string `json:"lifecycle"`
	Owner         string `json:"owner"`
	System        string `json:"system,omitempty"`
	// Readiness and ReadinessSince are those of a composite, Purpose that of a Template.
	Readiness      string   `json:"readiness,omitempty"`
	ReadinessSince string   `json:"readinessSince,omitempty"`
	Purpose        string   `json:"purpose,omitempty"`
	Tags           []string `json:"tags,omitempty"`
}

// result is a result of a search.
type result struct {
	Type     string   `json:"type"`
	Document document `json:"document"`
	Rank     int      `json:"rank"`
}

// search handles GET /api/search/query.
func (c *Catalog) search(w http.ResponseWriter, r *http.Request) error {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	asked, err := parseSearch(params)
	if err != nil {
		return err
	}
	limit, err := rest.Count(params, "pageLimit", searchLimit)
	if err != nil {
		return err
	}
	if limit > maxSearchLimit {
		return rest.Input("The page limit \"%d\" is greater than \"%d\"", limit, maxSearchLimit)
	}
	if limit == 0 {
		limit = searchLimit
	}
	at := resultCursor{}
	if at.Of, err = fingerprint(asked); err != nil {
		return err
	}
	if err := c.openResults(r, params, &at); err != nil {
		return err
	}
	found, err := c.store.Search(r.Context(), store.Search{
		Filter: query.AllOf(c.visible(r.Context()), asked.filter()), Term: asked.Term, Last: dayTwo(), Offset: at.Offset, Limit: limit,
	})
	if err != nil {
		return clientError(err)
	}
	out, err := c.resultPage(r.Context(), at, limit, found)
	if err != nil {
		return err
	}
	return writeBody(w, r, out)
}

// resultPage is the body of a response to a search.
type resultPage struct {
	Results            []result `json:"results"`
	NextPageCursor     string   `json:"nextPageCursor,omitempty"`
	PreviousPageCursor string   `json:"previousPageCursor,omitempty"`
	NumberOfResults    int      `json:"numberOfResults"`
}

func (c *Catalog) resultPage(ctx context.Context, at resultCursor, limit int, found store.Results) (*resultPage, error) {
	out := &resultPage{Results: []result{}, NumberOfResults: found.Total}
	for i := range found.Items {
		d, err := documentOf(&found.Items[i])
		if err != nil {
			return nil, err
		}
		out.Results = append(out.Results, result{Type: searchType, Document: d, Rank: at.Offset + i + 1})
	}
	var err error
	if next := at.Offset + limit; next < found.Total {
		if out.NextPageCursor, err = c.Seal(ctx, "search", resultCursor{at.Of, next}); err != nil {
			return nil, err
		}
	}
	if at.Offset > 0 {
		out.PreviousPageCursor, err = c.Seal(ctx, "search", resultCursor{at.Of, max(0, at.Offset-limit)})
	}
	return out, err
}

// openResults reads the cursor of a search, if the request has one.
func (c *Catalog) openResults(r *http.Request, params url.Values, at *resultCursor) error {
	text, _, err := rest.One(params, "pageCursor")
	if err != nil || text == "" {
		return err
	}
	of := at.Of
	err = c.Unseal(r.Context(), "search", text, at)
	if errors.Is(err, query.ErrSeal) {
		return rest.Input("Invalid page cursor: %s", query.ErrSeal)
	}
	if err == nil && at.Of != of {
		return rest.Input("Invalid page cursor: it belongs to a search with another term or other filters")
	}
	return err
}

// searchParam matches the names of parameters that are lists or maps, as the portal's
// clients write them: types[0], filters[kind], filters[kind][0].
var searchParam = regexp.MustCompile(`^(types|filters)((?:\[[^\[\]]*\]){0,2})$`)

// parseSearch reads the parameters of a search.
func parseSearch(params url.Values) (*searched, error) {
	s := &searched{Filters: map[string][]string{}}
	var err error
	if s.Term, _, err = rest.One(params, "term"); err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(s.Term); n > maxSearchTerm {
		return nil, rest.Input("The term length \"%d\" is greater than \"%d\"", n, maxSearchTerm)
	}
	if n := len(index.SplitWords(s.Term)); n > maxSearchWords {
		return nil, rest.Input("Invalid term, it has %d words, but may have %d", n, maxSearchWords)
	}
	for name, values := range params {
		if !strings.HasPrefix(name, "types") && !strings.HasPrefix(name, "filters") {
			continue
		}
		parts := searchParam.FindStringSubmatch(name)
		if parts == nil {
			return nil, rest.Input("Invalid parameter %q, expected types[0], filters[kind] or filters[kind][0]", rest.Short(name))
		}
		for _, v := range values {
			if err := rest.CheckText(parts[1], v); err != nil {
				return nil, err
			}
		}
		field, _, _ := strings.Cut(strings.TrimPrefix(parts[2], "["), "]")
		if parts[1] == "types" {
			if i := slices.IndexFunc(values, func(v string) bool { return v != searchType }); i >= 0 {
				return nil, rest.Input("Invalid type %q, only %s can be searched", rest.Short(values[i]), searchType)
			}
			continue
		}
		if searchFilters[field] == "" {
			return nil, rest.Input("Invalid filter %q, results can be filtered by kind, namespace, name, type, lifecycle, owner, system, tags and readiness", rest.Short(field))
		}
		s.Filters[field] = append(s.Filters[field], slices.DeleteFunc(values, func(v string) bool { return v == "" })...)
	}
	for _, values := range s.Filters {
		slices.Sort(values)
	}
	return s, nil
}

// filter returns the filter of a search. Several values of a filter mean any of them.
func (s *searched) filter() filter.Filter {
	var all []filter.Filter
	for _, name := range slices.Sorted(maps.Keys(s.Filters)) {
		if values := s.Filters[name]; len(values) > 0 {
			all = append(all, filter.In(searchFilters[name], values...))
		}
	}
	return query.AllOf(all...)
}

// dayTwo passes the Templates that update or delete a resource. A user mostly searches for
// the resource itself.
func dayTwo() filter.Filter {
	var either []filter.Filter
	for _, key := range words.Spellings(words.Key, words.AnnotationTemplatePurpose) {
		either = append(either, filter.In("metadata.annotations."+key, "update", "delete"))
	}
	return filter.Any(either...)
}

// shown returns the fields of entities that documents have; of the annotations, the
// purpose of a Template.
var shown = sync.OnceValues(func() (query.Fields, error) {
	fields := []string{
		"kind", "metadata.namespace", "metadata.name", "metadata.title", "metadata.description", "metadata.tags",
		"spec.type", "spec.lifecycle", "spec.owner", "spec.system", "spec.readiness", "spec.readinessSince",
	}
	for _, key := range words.Spellings(words.Key, words.AnnotationTemplatePurpose) {
		fields = append(fields, "metadata.annotations."+key)
	}
	return query.NewFields(fields)
})

// documentOf returns the document of an entity.
func documentOf(e *store.Entity) (document, error) {
	fields, err := shown()
	if err != nil {
		return document{}, err
	}
	data, err := fields.Project(nil, e.JSON)
	if err != nil {
		return document{}, err
	}
	var n struct {
		Kind     string
		Metadata struct {
			Namespace, Name, Title, Description string
			Tags                                []string
			Annotations                         map[string]string
		}
		Spec struct{ Type, Lifecycle, Owner, System, Readiness, ReadinessSince string }
	}
	// A field of a kind of your own may have any type: it counts as missing.
	err = json.Unmarshal(data, &n)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !ok {
		return document{}, err
	}
	m, spec := &n.Metadata, &n.Spec
	d := document{
		Title: m.Title, Text: m.Description, EntityRef: e.Ref, Kind: n.Kind, Namespace: m.Namespace, Name: m.Name, Tags: m.Tags,
		Type: spec.Type, Lifecycle: spec.Lifecycle, Owner: spec.Owner, System: spec.System,
		Readiness: spec.Readiness, ReadinessSince: spec.ReadinessSince,
	}
	if d.Title == "" {
		d.Title = d.Name
	}
	if d.Type == "" {
		// Backstage's search has this for entities without a type.
		d.Type = "other"
	}
	d.ComponentType = d.Type
	kind, name, _ := strings.Cut(e.Ref, ":")
	namespace, name, _ := strings.Cut(name, "/")
	d.Location = "/catalog/" + url.PathEscape(namespace) + "/" + url.PathEscape(kind) + "/" + url.PathEscape(name)
	for _, purpose := range m.Annotations {
		d.Purpose = purpose
	}
	return d, nil
}
