// Package engine turns definitions into catalog entities. It is a pure function: the
// same input gives the same entities and findings. It reads no clock, file, network or
// environment, and it does not log.
//
// It is one package because all entities of a definition are made by one transformation,
// and refer to each other.
package engine

import (
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Input is one definition with the objects that belong to it.
type Input struct {
	Definition *xrd.Definition
	// Compositions are the Compositions for the definition; Composites are its composites
	// and claims. Both may be empty.
	Compositions []*xrd.Composition
	Composites   []*xrd.Composite
	// Related are composites of other definitions that have a Resource and that Composites
	// refer to as their parts.
	Related []CompositeKey
	// Untracked holds the names of Compositions that get no Resource. They can still be
	// selected in the form.
	Untracked map[string]bool
	// Base is the base of the entity names. Empty means the base that the profile derives;
	// Names resolves conflicts between definitions.
	Base string
	// Clusters are the clusters in which the definition was found.
	Clusters []string
	// Context is what an extract record says about where the definition was found, such as
	// its path. Only templates see it.
	Context map[string]string
	// Fingerprint identifies the content and the origin of the definition: it must change
	// when either changes. If it is empty, the engine computes a fingerprint when it needs
	// one; a caller that already has a hash can save that cost.
	Fingerprint string
}

// Result is the output of the engine for an Input.
type Result struct {
	Entities []*entity.Entity
	Findings []finding.Finding
	// Sources records the origin of each value that can come from several places.
	Sources []Source
}

// Source records where one value of the entities came from.
type Source struct {
	// Field is the name of the value, such as "owner".
	Field, Value string
	// From is "annotation", "label", "option", "definition" or "default".
	From string
	// Key names the annotation, label or option.
	Key string
}

// Transformer makes entities from a definition. Engine is the default; a custom
// Transformer may wrap it. Implementations must be safe for concurrent use and must not
// change their Input.
type Transformer interface {
	Transform(Input) (Result, error)
}

// TransformerFunc is an adapter that allows a function to be used as a Transformer.
type TransformerFunc func(Input) (Result, error)

// Transform calls f.
func (f TransformerFunc) Transform(in Input) (Result, error) { return f(in) }

// Options are the caller's options. The zero value gives the defaults of the contract.
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
	// Words selects the vocabulary of the output; default auto.
	Words words.Choice
	// ResourceNamespace is the default namespace in forms; default "default".
	ResourceNamespace string
	// Lifecycle of API entities; default "production".
	Lifecycle string
	// NoAPI leaves out API entities.
	NoAPI bool
	// NoCompositionDetails leaves the selection of a Composition out of forms.
	NoCompositionDetails bool
	// GitOps adds the page on which the user selects between applying directly and a change
	// request.
	GitOps bool
	// Stock, if set, makes Templates for a Backstage that has only its own fields and
	// actions: they open a change request at this Git provider. Then Clusters, DayTwo and
	// GitOps have no effect.
	Stock form.GitProvider
	// DayTwo adds, to each Template, one that updates an existing resource and one that
	// deletes it.
	DayTwo bool
	// Clusters are the clusters offered in forms. With fewer than two the question is
	// omitted.
	Clusters []string
	// Now is the time at which the definitions were found. Zero omits the annotation.
	Now time.Time
	// Forms caches compiled forms; nil disables the cache.
	Forms FormCache
}

// Hooks are functions called before and after the default transformation. Either may be
// nil. Hooks see the contract's vocabulary: translation happens after them.
type Hooks struct {
	// PreProcess may return another definition. It must not change the one it is given.
	PreProcess func(*xrd.Definition) (*xrd.Definition, error)
	// PostProcess may change, add and remove entities.
	PostProcess func([]*entity.Entity) ([]*entity.Entity, error)
}
