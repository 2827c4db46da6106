package xrd

import (
	"example.dev/ingestor/document/tree"
)

// KindComposition is the kind of a Composition.
const KindComposition = "Composition"

// The modes of a Composition.
const (
	ModeResources = "Resources"
	ModePipeline  = "Pipeline"
)

// Composition defines how composites of a kind are composed.
type Composition struct {
	Object

	// TypeAPIVersion and TypeKind identify the composites it is for.
	TypeAPIVersion string
	TypeKind       string
	Mode           string
	// Resources are the names of the resources it lists (mode Resources).
	Resources []string
	// Steps are the functions it calls in order (mode Pipeline).
	Steps []Step
}

// Step is one step of a pipeline.
type Step struct {
	Name, Function string
}

// NewComposition parses a Composition.
func NewComposition(n *tree.Node, origin Origin) *Composition {
	spec := n.Get("spec")
	c := &Composition{
		Object:         newObject(n, origin),
		TypeAPIVersion: spec.Get("compositeTypeRef", "apiVersion").Str(),
		TypeKind:       spec.Get("compositeTypeRef", "kind").Str(),
		Mode:           spec.Get("mode").Str(),
	}
	for _, s := range spec.Get("pipeline").List() {
		c.Steps = append(c.Steps, Step{Name: s.Get("step").Str(), Function: s.Get("functionRef", "name").Str()})
	}
	for _, r := range spec.Get("resources").List() {
		name := r.Get("name").Str()
		if name == "" {
			name = r.Get("base", "kind").Str()
		}
		c.Resources = append(c.Resources, name)
	}
	if c.Mode == "" {
		c.Mode = ModeResources
		if len(c.Steps) > 0 {
			c.Mode = ModePipeline
		}
	}
	return c
}

// For reports whether the Composition is for composites of d.
func (c *Composition) For(d *Definition) bool {
	return c.TypeKind != "" && c.TypeKind == d.Names.Kind && groupOf(c.TypeAPIVersion) == d.Group
}
