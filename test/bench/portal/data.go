package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/xrd"
)

// Of ten entities three are made of a definition of 61 fields (Template, API
// and Resource), six are components of 0.7 KB, one is a system.
const perTen = 10

// kinds are the kinds of the entities with their share of ten.
var kinds = []struct {
	name string
	of   int
}{{"component", 6}, {"api", 1}, {"template", 1}, {"resource", 1}, {"system", 1}}

// catalog writes n entities as lines of JSON and returns their size in bytes.
func catalog(w io.Writer, n int) (int, error) { return part(w, 0, n) }

// part writes the entities of a range without its end.
func part(w io.Writer, from, to int) (int, error) {
	out := bufio.NewWriterSize(w, 1<<20)
	size := 0
	maker := engine.New(engine.ComposerIngestor, engine.Options{}, engine.Hooks{})
	for i := from / perTen; i < to/perTen; i++ {
		var set xrd.Set
		if err := set.Read(bytes.NewReader(sample.Definition(i)), xrd.Origin{File: "sample.yaml"}); err != nil {
			return 0, err
		}
		made, err := maker.Transform(engine.Input{Definition: set.Definitions[0]})
		if err != nil {
			return 0, err
		}
		for _, e := range made.Entities {
			m, err := out.Write(entity.AppendNDJSON(nil, e))
			if err != nil {
				return 0, err
			}
			size += m
		}
		for j := range 6 {
			m, _ := fmt.Fprintf(out, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"component-%06[1]d","title":"Component %06[1]d","description":"Answers what the other parts of system %[2]d ask of it, and keeps what they have told it","labels":{"tier":"%[3]s","example.org/cost-center":"c%[4]d"},"annotations":{"backstage.io/kubernetes-id":"component-%06[1]d","example.org/dashboard":"https://dashboards.example.org/d/%06[1]d"},"tags":["go","%[3]s","team-%[5]d"],"links":[{"url":"https://docs.example.org/%06[1]d","title":"Handbook"}]},"spec":{"type":"%[6]s","lifecycle":"production","owner":"team-%[5]d","system":"system-%06[2]d","dependsOn":["component:component-%06[7]d"]}}`+"\n",
				i*6+j, i, []string{"backend", "frontend"}[j%2], i%97, i%50, []string{"service", "website", "library"}[j%3], i*6)
			size += m
		}
		m, _ := fmt.Fprintf(out, `{"apiVersion":"backstage.io/v1alpha1","kind":"System","metadata":{"name":"system-%06[1]d","title":"System %[1]d"},"spec":{"owner":"team-%[2]d"}}`+"\n", i, i%50)
		size += m
	}
	return size, out.Flush()
}
