package inspect

import (
	"context"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/unit"
)

// Explanation describes what is known of a definition and what is built from it.
type Explanation struct {
	Name string `json:"name"`
	// TakenBy is the variant that builds its entities, empty if none does.
	TakenBy string `json:"takenBy,omitempty"`
	// LeftBy are the variants that would also select it, but leave it to TakenBy.
	LeftBy []string `json:"leftBy,omitempty"`
	Copies []Copy   `json:"copies"`
	// Stale says what could not be read lately, StaleSince since when.
	Stale      string    `json:"stale,omitempty"`
	StaleSince time.Time `json:"staleSince,omitzero"`
	Failure    string    `json:"failure,omitempty"`
	// Compositions and Composites count the objects that belong to it.
	Compositions int `json:"compositions"`
	Composites   int `json:"composites"`
	// Entities are references, Withheld those the catalog would refuse.
	Entities []string         `json:"entities"`
	Withheld []string         `json:"withheld,omitempty"`
	Values   []Value          `json:"values"`
	Findings []status.Finding `json:"findings"`
}

// Copy is a definition in one source.
type Copy struct {
	Source string `json:"source"`
	// Version is the resource version, 0 if the source has none.
	Version int64 `json:"version,omitempty"`
	// Refused is why the definition is not ingested; empty if it is.
	Refused string `json:"refused,omitempty"`
}

// Value tells where a value of the entities comes from.
type Value struct {
	Field string `json:"field"`
	Value string `json:"value"`
	From  string `json:"from"`
	Key   string `json:"key,omitempty"`
}

// Explain returns what is known of a definition. It reports false if the definition is
// unknown.
func (in *Inspector) Explain(ctx context.Context, name string) (Explanation, bool, error) {
	x := Explanation{Name: name, Copies: []Copy{}, Entities: []string{}, Values: []Value{}, Findings: []status.Finding{}}
	if strings.HasPrefix(name, object.UnitWorkload) {
		return x, false, nil
	}
	loaded, err := in.opts.Builder.Load(ctx, []string{name})
	if err != nil {
		return x, false, err
	}
	objects := loaded[name].Objects
	for i := range objects {
		o := &objects[i]
		switch {
		case o.Unit == name:
			x.Copies = append(x.Copies, Copy{Source: o.Source, Version: o.Version, Refused: object.NoteOf(o).Refused})
		case strings.HasPrefix(o.List, object.ListCompositions):
			x.Compositions++
		default:
			x.Composites++
		}
	}
	if len(x.Copies) == 0 {
		return x, false, nil
	}
	pass, err := in.opts.Builder.Pass(ctx, unit.PassOptions{Lint: true})
	if err != nil {
		return x, false, err
	}
	entities, m := pass.Transform(ctx, name, loaded[name], pass.At)
	x.Stale, x.StaleSince = pass.Stale(objects)
	x.TakenBy, x.LeftBy, x.Withheld, x.Failure = m.Variant, m.Left, m.Withheld, m.Failed
	for _, e := range entities {
		x.Entities = append(x.Entities, e.Key())
	}
	for _, v := range m.Sources {
		x.Values = append(x.Values, Value{Field: v.Field, Value: v.Value, From: v.From, Key: v.Key})
	}
	for _, f := range m.Findings {
		x.Findings = append(x.Findings, status.FindingOf(f))
	}
	return x, true, nil
}
