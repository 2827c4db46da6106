package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// fillPart is the number of entities in one push.
const fillPart = 20_000

// fill pushes n entities.
func (s *server) fill(n int) error {
	for from := 0; from < n; from += fillPart {
		var body bytes.Buffer
		if _, err := part(&body, from, min(from+fillPart, n)); err != nil {
			return err
		}
		if _, err := s.pushAs(fmt.Sprint("bench-", from/fillPart), body.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// counted are the facets that are measured.
var counted = []struct{ name, query string }{
	{"kinds", "facet=kind"},
	{"kinds and owners", "facet=kind&facet=spec.owner"},
	{"types, owners and tags of a kind", "facet=spec.type&facet=spec.owner&facet=metadata.tags&filter=kind=component"},
	{"kinds and owners of two types", "facet=kind&facet=spec.owner&filter=spec.type=service&filter=spec.type=website"},
	{"kinds and types of an owner", "facet=kind&facet=spec.type&filter=spec.owner=team-7"},
	{"types of a search", "facet=kind&facet=spec.type&fullTextFilterTerm=component"},
}

// countFacets measures facets with ten thousand entities and with many: the
// first request after a write, and the next one.
func countFacets(w io.Writer, tmp, program, name string, database func(string) (string, error)) error {
	for _, n := range []int{*small, *largest} {
		if err := facetsOf(w, tmp, program, name, n, database); err != nil {
			return err
		}
	}
	return nil
}

func facetsOf(w io.Writer, tmp, program, name string, n int, database func(string) (string, error)) error {
	dir, err := os.MkdirTemp(tmp, "facets-")
	if err != nil {
		return err
	}
	connection, err := database(fmt.Sprint("facets-", n))
	if err != nil {
		return err
	}
	s, err := start(dir, program, connection, "")
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := s.fill(n); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, facets of %d entities:\n", name, n)
	for _, c := range counted {
		var first, after, again []float64
		for round := range rounds {
			if err := s.touch(round); err != nil {
				return err
			}
			for _, took := range []*[]float64{&after, &again} {
				begin := time.Now()
				if err := s.fetch(http.DefaultClient, "/api/catalog/entity-facets?"+c.query); err != nil {
					return err
				}
				*took = append(*took, float64(time.Since(begin).Microseconds())/1000)
			}
			if round == 0 {
				first = slices.Clone(after)
			}
		}
		slices.Sort(after)
		slices.Sort(again)
		fmt.Fprintf(w, "  %s: %.1f ms the first time, %.1f ms after an entity has changed, %.1f ms unchanged\n",
			c.name, first[0], after[rounds/2], again[rounds/2])
	}
	return nil
}

// touch changes one entity.
func (s *server) touch(n int) error {
	_, err := s.pushAs("touch", fmt.Appendf(nil, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"touched","description":"%d %d"},"spec":{"type":"service","lifecycle":"production","owner":"team-7"}}`+"\n", n, time.Now().UnixNano()))
	return err
}
