package xrd

import (
	"slices"

	"example.dev/ingestor/document/tree"
)

// Role is what an object is to the engine.
type Role uint8

// The roles.
const (
	// RoleDefinition is that of a definition.
	RoleDefinition Role = iota
	// RoleComposition is that of a Composition.
	RoleComposition
	// RoleComposite is that of a composite or a claim.
	RoleComposite
	// RoleWorkload is that of a workload, such as a Deployment.
	RoleWorkload
)

// Prune returns of an object what is read of it: entities and findings are the
// same with it as with the whole. Of a definition or a Composition that is all
// but the status, of which a definition keeps Established and Offered without
// their times. Of a composite it is metadata, status and the machinery's
// references: what a developer wrote into its spec is nobody's business, and may
// be secret. Of a workload it is the metadata. Nowhere it is the notes that API
// servers and kubectl keep in the metadata.
//
// n is not changed; the result shares parts with it.
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
			// One that is no map is a mistake in a definition, and told.
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

// pruneSpec keeps the machinery's references, and of those only what refers: in
// a composite of the second generation a developer's field may have their names.
func pruneSpec(n *tree.Node, top bool) *tree.Node {
	return only(n, func(f *tree.Field) bool {
		switch {
		case !f.Value.IsMap():
			return false
		case f.Key == apart && top:
			f.Value = pruneSpec(f.Value, false)
			return true
		case f.Key != refComposition && f.Key != refClaim && f.Key != refResource:
			return false
		}
		f.Value = only(f.Value, func(f *tree.Field) bool {
			return slices.Contains(referring, f.Key) && f.Value.IsString()
		})
		return true
	})
}

// only returns a copy of a map with the fields that keep keeps, which may put
// something else in the place of their value. Anything else it returns as it is.
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
