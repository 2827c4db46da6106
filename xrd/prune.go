package xrd

import (
	"slices"

	"example.dev/ingestor/document/tree"
)

// Role is the role of an object in the engine.
type Role uint8

// The roles.
const (
	// RoleDefinition is the role of a definition.
	RoleDefinition Role = iota
	// RoleComposition is the role of a Composition.
	RoleComposition
	// RoleComposite is the role of a composite or a claim.
	RoleComposite
	// RoleWorkload is the role of a workload, such as a Deployment.
	RoleWorkload
)

// Prune returns the parts of an object that are used: entities and findings are the same
// as with the whole object. For a definition or a Composition, that is everything but
// the status, of which a definition keeps Established and Offered without their times.
// For a composite, it is metadata, status and Crossplane's references: the developer's
// spec is private and may be secret. For a workload, it is the metadata. The managed
// fields of API servers and the last-applied annotation of kubectl are always removed.
//
// n is not changed; the result shares nodes with it.
func Prune(n *tree.Node, role Role) *tree.Node {
	return only(n, func(f *tree.Field) bool {
		switch f.Key {
		case "apiVersion", "kind":
			return true
		case "metadata":
			f.Value = pruneMetadata(f.Value)
			return true
		case "spec":
			if role == RoleComposite {
				f.Value = pruneSpec(f.Value, true)
				return f.Value.IsMap()
			}
			return role != RoleWorkload
		case "status":
			if role == RoleDefinition && f.Value.IsMap() {
				f.Value = pruneStatus(f.Value)
				return f.Value != nil
			}
			// A status that is not a map is an error in a definition, and is reported.
			return role == RoleComposite || role == RoleDefinition
		}
		return role == RoleDefinition || role == RoleComposition
	})
}

func pruneMetadata(n *tree.Node) *tree.Node {
	return only(n, func(f *tree.Field) bool {
		if f.Key == "annotations" {
			f.Value = only(f.Value, func(f *tree.Field) bool { return f.Key != LastApplied })
		}
		return f.Key != "managedFields"
	})
}

// referring are the fields of a reference.
var referring = []string{"apiVersion", "kind", "namespace", "name"}

// pruneSpec keeps Crossplane's references, and only their reference fields: in a v2
// composite, a developer's field may have the same name.
func pruneSpec(n *tree.Node, top bool) *tree.Node {
	return only(n, func(f *tree.Field) bool {
		switch {
		case f.Key == refResources && f.Value.IsList():
			f.Value = pruneReferences(f.Value)
			return f.Value.Len() > 0
		case !f.Value.IsMap():
			return false
		case f.Key == apart && top:
			f.Value = pruneSpec(f.Value, false)
			return true
		case f.Key != refComposition && f.Key != refClaim && f.Key != refResource:
			return false
		}
		f.Value = pruneReference(f.Value)
		return true
	})
}

func pruneReference(n *tree.Node) *tree.Node {
	return only(n, func(f *tree.Field) bool { return slices.Contains(referring, f.Key) && f.Value.IsString() })
}

// mostReferences is how many references to composed objects are kept of a composite.
const mostReferences = 500

// pruneReferences keeps the references to composed objects that have a name.
func pruneReferences(n *tree.Node) *tree.Node {
	out := *n
	out.Items = nil
	for _, it := range n.Items {
		if len(out.Items) < mostReferences && it.Get("name").Str() != "" {
			out.Items = append(out.Items, pruneReference(it))
		}
	}
	return &out
}

// only returns a copy of a map with the fields for which keep returns true; keep may
// replace their values. Anything else is returned as it is.
func only(n *tree.Node, keep func(*tree.Field) bool) *tree.Node {
	if !n.IsMap() {
		return n
	}
	out := *n
	out.Fields = make([]tree.Field, 0, len(n.Fields))
	for _, f := range n.Fields {
		if keep(&f) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}
