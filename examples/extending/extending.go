// Package extending shows how to extend the engine: a hook before it, a hook after
// it, and a transformer that wraps it. Two programs are built with it, so that a
// pull request shows what the catalog will contain:
//
//	go run ./examples/extending/cli ingestor-cli examples/database.yaml --stdout
//	go run ./examples/extending/backend
package extending

import (
	"maps"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Extension is the complete extension.
var Extension = engine.Extension{
	Hooks:       engine.Hooks{PreProcess: ownedByDefault, PostProcess: withRunbook},
	Transformer: withCostCentre,
}

// runbooks is the base URL of runbooks. A build can set another one with -ldflags
// -X.
var runbooks = "https://runbooks.example.org/"

// ownedByDefault is a PreProcess hook: it returns a modified copy of the
// definition and does not change the original.
func ownedByDefault(d *xrd.Definition) (*xrd.Definition, error) {
	if d.Annotations[words.AnnotationOwner] != "" {
		return d, nil
	}
	c := *d
	c.Annotations = maps.Clone(d.Annotations)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[words.AnnotationOwner] = "team-" + d.Group
	return &c, nil
}

// withRunbook is a PostProcess hook: it may change, add and remove entities. Names
// are in the contract's vocabulary here; translation comes later.
func withRunbook(entities []*entity.Entity) ([]*entity.Entity, error) {
	for _, e := range entities {
		e.Metadata.Annotations["example.org/runbook"] = runbooks + e.Metadata.Name
		e.Metadata.Links = append(e.Metadata.Links, entity.Link{URL: runbooks + e.Metadata.Name, Title: "Runbook"})
	}
	return entities, nil
}

// withCostCentre is a transformer that wraps another: it adds a field for the cost
// centre to every form.
func withCostCentre(next engine.Transformer) engine.Transformer {
	return engine.TransformerFunc(func(in engine.Input) (engine.Result, error) {
		result, err := next.Transform(in)
		if err != nil {
			return result, err
		}
		for _, e := range result.Entities {
			if e.Kind != entity.KindTemplate {
				continue
			}
			pages := e.Spec.Get("parameters").Clone()
			pages.Items[0].Get("properties").Set("costCentre", tree.Obj(
				tree.F("title", tree.Str("Cost centre")),
				tree.F("type", tree.Str("string")),
			))
			e.Spec.Set("parameters", pages)
			engine.Stamp(e)
		}
		return result, nil
	})
}
