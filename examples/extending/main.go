// Command extending shows how to make the engine your own: a hook before it,
// a hook after it, and a transformer that wraps it. Run it with a definition:
//
//	go run ./examples/extending examples/database.yaml
package main

import (
	"fmt"
	"io"
	"os"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: extending FILE")
		os.Exit(4)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "extending:", err)
		os.Exit(1)
	}
}

func run(path string, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var set xrd.Set
	if err := set.Read(f, xrd.Origin{File: path}); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	transformer := withCostCentre(engine.New(engine.CLI, engine.Options{}, engine.Hooks{
		PreProcess:  ownedByDefault,
		PostProcess: withRunbook,
	}))
	for _, d := range set.Definitions {
		result, err := transformer.Transform(engine.Input{Definition: d, Compositions: set.Compositions})
		if err != nil {
			return err
		}
		if _, err := w.Write(entity.YAMLDocuments(result.Entities)); err != nil {
			return err
		}
	}
	return nil
}

// ownedByDefault is a PreProcess hook: it returns a definition of its own and
// leaves the one it was given alone.
func ownedByDefault(d *xrd.Definition) (*xrd.Definition, error) {
	if d.Annotations[words.AnnotationOwner] != "" {
		return d, nil
	}
	c := *d
	c.Annotations = map[string]string{words.AnnotationOwner: "team-" + d.Group}
	for k, v := range d.Annotations {
		c.Annotations[k] = v
	}
	return &c, nil
}

// withRunbook is a PostProcess hook: it may change, add and remove entities.
// Names are in the contract's words here; translation comes after.
func withRunbook(entities []*entity.Entity) ([]*entity.Entity, error) {
	for _, e := range entities {
		e.Metadata.Links = append(e.Metadata.Links, entity.Link{
			URL: "https://runbooks.example.org/" + e.Metadata.Name, Title: "Runbook",
		})
	}
	return entities, nil
}

// withCostCentre is a transformer that wraps another: every form of its
// Templates asks who pays.
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
