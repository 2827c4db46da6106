package xrd

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// Composite is a composite resource or a claim.
type Composite struct {
	Object

	// Claim reports whether it is a claim.
	Claim bool
	// Composition is the name of the Composition it uses, if set.
	Composition string
	// Counterpart is the composite that a claim is bound to, or the claim that a composite
	// is bound to; the zero Reference if there is none.
	Counterpart Reference
	// Conditions are the status conditions, sorted by type. If a type occurs several times,
	// the last one counts.
	Conditions []Condition
}

// Reference refers to another object of the same cluster.
type Reference struct {
	Kind, Namespace, Name string
}

// Condition is a status condition, without fields that change constantly.
type Condition struct {
	Type, Status, Reason string
	// Message is kept only for definitions: that of a composite changes constantly.
	Message string
}

// NewComposite makes a composite of d from o. It returns nil if o is neither a composite
// nor a claim of d.
func NewComposite(o *Object, d *Definition) *Composite {
	if d.Group == "" || o.Group() != words.In(words.Group, d.Group) && o.Group() != d.Group {
		return nil
	}
	claim := d.Claim.Kind != "" && o.Kind == d.Claim.Kind
	if !claim && o.Kind != d.Names.Kind {
		return nil
	}
	c := &Composite{Object: *o, Claim: claim, Conditions: conditions(o.Node)}
	c.Composition = machinery(o.Node, refComposition).Get("name").Str()
	to := machinery(o.Node, refClaim)
	if claim {
		to = machinery(o.Node, refResource)
	}
	c.Counterpart = Reference{Kind: to.Get("kind").Str(), Namespace: to.Get("namespace").Str(), Name: to.Get("name").Str()}
	return c
}

// The references that Crossplane keeps in a composite's spec.
const (
	refComposition = "compositionRef"
	refClaim       = "claimRef"
	refResource    = "resourceRef"
	refResources   = "resourceRefs"
)

// apart is the field of spec in which v2 composites keep Crossplane's fields separate
// from the developer's.
const apart = "crossplane"

// machinery returns one of Crossplane's references, from either of its locations.
func machinery(n *tree.Node, key string) *tree.Node {
	spec := n.Get("spec")
	if ref := spec.Get(key); ref.Get("name").Str() != "" {
		return ref
	}
	return spec.Get(apart, key)
}

func conditions(n *tree.Node) []Condition {
	var out []Condition
	for _, it := range n.Get("status", "conditions").List() {
		c := Condition{Type: it.Get("type").Str(), Status: it.Get("status").Str(), Reason: it.Get("reason").Str()}
		if c.Type == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(o Condition) bool { return o.Type == c.Type }); i >= 0 {
			out[i] = c
			continue
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}
