// Package engine turns definitions into catalog entities. It is a function:
// the same input gives the same entities and findings, wherever it runs. It
// reads no clock, file, network or environment, and it does not log.
package engine

import (
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Input is one definition with what belongs to it.
type Input struct {
	Definition *xrd.Definition
	// Compositions are those for the definition, Composites its composites
	// and claims; both may be empty.
	Compositions []*xrd.Composition
	Composites   []*xrd.Composite
	// Untracked are the names of Compositions that get no Resource. They are
	// still there to be chosen in the form.
	Untracked map[string]bool
	// Base is the name the entities' names are made of. Empty means the one
	// the profile gives; Names settles clashes between definitions.
	Base string
	// Clusters are the clusters the definition was found in.
	Clusters []string
	// Context is what an extract record says of where the definition was found,
	// such as its path. Only templates see it.
	Context map[string]string
	// Fingerprint stands for the content of the definition and for where it was
	// read: it must be another one when either is. Empty means that the engine
	// makes its own where it needs one, which a caller who has a hash can spare it.
	Fingerprint string
}

// Result is what the engine made of an Input.
type Result struct {
	Entities []*entity.Entity
	Findings []finding.Finding
	// Sources says where the values that could have come from several places
	// did come from.
	Sources []Source
}

// Source says where one value of the entities came from.
type Source struct {
	// Field is the value's name, such as "owner".
	Field, Value string
	// From is "annotation", "label", "option", "definition" or "default".
	From string
	// Key names the annotation, label or option.
	Key string
}

// Transformer makes entities of a definition. Engine is the default one; a
// Transformer of your own may wrap it. Implementations must be safe for use by
// several goroutines at once and must not change their Input.
type Transformer interface {
	Transform(Input) (Result, error)
}

// TransformerFunc is a function that is a Transformer.
type TransformerFunc func(Input) (Result, error)

// Transform calls f.
func (f TransformerFunc) Transform(in Input) (Result, error) { return f(in) }

// Options are what a caller may choose. The zero value gives the defaults of
// the contract.
type Options struct {
	// Owner of the entities; default "platform-team".
	Owner string
	// System the entities belong to; default "platform".
	System string
	// Domain the System belongs to; default none.
	Domain string
	// Namespace of the entities; default "default".
	Namespace string
	// Tags to add to every entity.
	Tags []string
	// Words chooses the vocabulary of what is written; default auto.
	Words words.Choice
	// ResourceNamespace is the namespace a form proposes for the resource;
	// default "default".
	ResourceNamespace string
	// Lifecycle of API entities; default "production".
	Lifecycle string
	// NoAPI leaves out API entities.
	NoAPI bool
	// NoCompositionDetails leaves the choice of a Composition out of forms.
	NoCompositionDetails bool
	// GitOps adds the page on which a developer chooses between applying
	// directly and a change request.
	GitOps bool
	// DayTwo adds, to each Template, one that changes a resource that is there
	// and one that deletes it.
	DayTwo bool
	// Clusters are those a developer chooses from; fewer than two leave the
	// question out.
	Clusters []string
	// Now is when the definitions were found. Zero leaves the annotation out.
	Now time.Time
	// Forms remembers compiled forms; nil means that each is compiled anew.
	Forms FormCache
}

// Hooks are functions called around the default transformation. Either may be
// nil. They see the contract's words: translation comes after them.
type Hooks struct {
	// PreProcess may replace the definition. It must not change the one given.
	PreProcess func(*xrd.Definition) (*xrd.Definition, error)
	// PostProcess may change, add and remove entities.
	PostProcess func([]*entity.Entity) ([]*entity.Entity, error)
}
