package xrd

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// KindDefinition is the kind of a definition.
const KindDefinition = "CompositeResourceDefinition"

// Scope is the scope of composite resources.
type Scope string

// The scopes.
const (
	ScopeNamespaced    Scope = "Namespaced"
	ScopeCluster       Scope = "Cluster"
	ScopeLegacyCluster Scope = "LegacyCluster"
)

// Definition is a composite resource definition.
type Definition struct {
	Object

	Group  string
	Names  Names
	Claim  Names // zero if the definition offers no claim
	Scope  Scope
	Served []*Version // highest first
	// Versions are all versions, in the order of the document.
	Versions []*Version

	DefaultComposition   string
	EnforcedComposition  string
	DefaultUpdatePolicy  string
	DefaultDeletePolicy  string
	ConnectionSecretKeys []string

	// Serving is the serving state of the definition's kinds, by cluster; empty if it is
	// unknown or the definition was found in no cluster.
	Serving []Serving

	// Also lists the other origins of definitions with the same name; see Merge.
	Also []Origin
}

// Names are the names of a kind.
type Names struct {
	Kind, Plural, Singular string
}

// Version is one version of a definition.
type Version struct {
	Name               string
	Served             bool
	Referenceable      bool
	Deprecated         bool
	DeprecationWarning string
	// Schema is the OpenAPI schema of the whole object; nil if there is none.
	Schema *tree.Node
	Node   *tree.Node
}

// Target is the kind that a developer creates: the claim if there is one, else the
// composite itself.
type Target struct {
	Names
	Namespaced bool
	Claim      bool
}

// NewDefinition parses a definition. It never fails: missing fields and fields of the
// wrong type are ignored.
func NewDefinition(n *tree.Node, origin Origin) *Definition {
	d := &Definition{Object: newObject(n, origin)}
	spec := n.Get("spec")
	settleBooleans(spec)
	d.Group = spec.Get("group").Str()
	d.Names = readNames(spec.Get("names"))
	d.Claim = readNames(spec.Get("claimNames"))
	d.Scope = Scope(spec.Get("scope").Str())
	if d.Scope == "" {
		d.Scope = ScopeLegacyCluster
		if d.APIVersion == words.DefinitionV2 {
			d.Scope = ScopeNamespaced
		}
	}
	d.DefaultComposition = spec.Get("defaultCompositionRef", "name").Str()
	d.EnforcedComposition = spec.Get("enforcedCompositionRef", "name").Str()
	d.DefaultUpdatePolicy = unlessUsual(spec.Get("defaultCompositionUpdatePolicy").Str(), "Automatic")
	d.DefaultDeletePolicy = unlessUsual(spec.Get("defaultCompositeDeletePolicy").Str(), "Background")
	d.ConnectionSecretKeys = spec.Get("connectionSecretKeys").Strings()
	for _, v := range spec.Get("versions").List() {
		if v.IsMap() {
			d.Versions = append(d.Versions, readVersion(v))
		}
	}
	d.Serving = readServing(n, origin)
	d.settleName()
	d.settleServed()
	return d
}

// unlessUsual returns a policy, or "" if it is the default: an API server fills in the
// default, and a definition must parse the same from a file and from a cluster.
func unlessUsual(policy, usual string) string {
	if policy == usual {
		return ""
	}
	return policy
}

func readNames(n *tree.Node) Names {
	return Names{Kind: n.Get("kind").Str(), Plural: n.Get("plural").Str(), Singular: n.Get("singular").Str()}
}

func readVersion(n *tree.Node) *Version {
	v := &Version{
		Name:               n.Get("name").Str(),
		Referenceable:      n.Get("referenceable").IsTrue(),
		Deprecated:         n.Get("deprecated").IsTrue(),
		DeprecationWarning: n.Get("deprecationWarning").Str(),
		Schema:             n.Get("schema", "openAPIV3Schema"),
		Node:               n,
	}
	// A version without the field is served.
	served := n.Get("served")
	v.Served = served.IsNull() || served.IsTrue()
	if !v.Schema.IsMap() {
		v.Schema = nil
	}
	return v
}

// settleName derives a missing name of a definition from its plural and group.
func (d *Definition) settleName() {
	if d.Name == "" && d.Names.Plural != "" && d.Group != "" {
		d.Name = d.Names.Plural + "." + d.Group
	}
}

func (d *Definition) settleServed() {
	for _, v := range d.Versions {
		if v.Served && v.Name != "" {
			d.Served = append(d.Served, v)
		}
	}
	slices.SortStableFunc(d.Served, func(a, b *Version) int { return CompareVersions(b.Name, a.Name) })
}

// Preferred returns the version that a single template is made for: the referenceable
// one if it is served, else the highest served; nil if none is served.
func (d *Definition) Preferred() *Version {
	for _, v := range d.Served {
		if v.Referenceable {
			return v
		}
	}
	if len(d.Served) == 0 {
		return nil
	}
	return d.Served[0]
}

// Label returns the definition's name for messages.
func (d *Definition) Label() string { return cmp.Or(d.Name, "unnamed") }

// HasClaim reports whether developers create claims of the definition.
func (d *Definition) HasClaim() bool {
	return d.Claim.Kind != "" && d.Scope == ScopeLegacyCluster
}

// Target returns the kind that a developer creates.
func (d *Definition) Target() Target {
	if d.HasClaim() {
		return Target{Names: d.Claim.withPlural(), Namespaced: true, Claim: true}
	}
	return Target{Names: d.Names.withPlural(), Namespaced: d.Scope == ScopeNamespaced}
}

// withPlural fills in a missing plural as Kubernetes tools do.
func (n Names) withPlural() Names {
	if n.Plural == "" && n.Kind != "" {
		n.Plural = strings.ToLower(n.Kind) + "s"
	}
	return n
}

// Modern reports whether composites of the definition keep Crossplane's fields under
// spec.crossplane, as all but LegacyCluster do.
func (d *Definition) Modern() bool { return d.Scope != ScopeLegacyCluster }

// Spec returns the schema of spec, nil if there is none.
func (v *Version) Spec() *tree.Node {
	s := v.Schema.Get("properties", "spec")
	if !s.IsMap() {
		return nil
	}
	return s
}
