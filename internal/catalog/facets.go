package catalog

import (
	"encoding/json"
	"net/http"

	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/rest"
)

// maxFacets is how many facets a request may ask for.
const maxFacets = 100

// facets handles GET /entity-facets.
func (c *Catalog) facets(w http.ResponseWriter, r *http.Request) error {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if len(params["facet"]) == 0 {
		return rest.Input("request/query must have required property 'facet'")
	}
	s := selection{Filter: params["filter"]}
	if s.Text, err = textOf(params); err != nil {
		return err
	}
	return c.answerFacets(w, r, params["facet"], &s)
}

// postFacets handles POST /entity-facets.
func (c *Catalog) postFacets(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Facets         []string        `json:"facets"`
		Query          json.RawMessage `json:"query"`
		FullTextFilter fullText        `json:"fullTextFilter"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if len(body.Facets) == 0 {
		return rest.Input("request/body must have required property 'facets'")
	}
	text, err := body.FullTextFilter.read()
	if err != nil {
		return err
	}
	return c.answerFacets(w, r, body.Facets, &selection{Query: body.Query, Text: text})
}

func (c *Catalog) answerFacets(w http.ResponseWriter, r *http.Request, facets []string, s *selection) error {
	if len(facets) > maxFacets {
		return rest.Input("Invalid facets, more than %d given", maxFacets)
	}
	for _, f := range facets {
		if err := query.CheckKey("facet", f); err != nil {
			return err
		}
	}
	filter, err := s.filter()
	if err != nil {
		return err
	}
	counted, err := c.store.Facets(r.Context(), facets, query.AllOf(c.visible(r.Context()), filter), s.Text)
	if err != nil {
		return clientError(err)
	}
	type facet struct {
		Value string `json:"value"`
		Count int    `json:"count"`
	}
	out := struct {
		Facets map[string][]facet `json:"facets"`
	}{Facets: make(map[string][]facet, len(facets))}
	for _, name := range facets {
		values := []facet{}
		for _, f := range counted[name] {
			values = append(values, facet(f))
		}
		out.Facets[name] = values
	}
	return writeBody(w, r, out)
}
