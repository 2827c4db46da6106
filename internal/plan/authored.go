package plan

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

const (
	// managerPrefix is how the names of Crossplane's field managers begin, and managerClaim
	// the one that copies a claim to its composite.
	managerPrefix = "apiextensions.crossplane.io/"
	managerClaim  = managerPrefix + "claim"
	// managerCrossplane is the manager of Crossplane's plain updates.
	managerCrossplane = "crossplane"
)

// machineryFields are Crossplane's own fields of spec, as managed fields name them.
var machineryFields = func() []string {
	all := []string{"f:" + xrd.MachineryV2}
	for _, key := range xrd.MachineryV1 {
		all = append(all, "f:"+key)
	}
	return all
}()

// machineryLabels are the labels that Crossplane sets on composites, as managed fields name
// them.
var machineryLabels = []string{"f:" + labelComposite, "f:" + labelClaimName, "f:" + labelClaimSpace}

// byOthers reports whether a field manager is not Crossplane.
func byOthers(manager string) bool {
	return manager != managerCrossplane && !strings.HasPrefix(manager, managerPrefix)
}

// byComposites reports whether a field manager applies what composites compose.
func byComposites(manager string) bool { return strings.HasPrefix(manager, fieldManager) }

// byClaims reports whether a field manager copies claims to composites.
func byClaims(manager string) bool { return manager == managerClaim }

// unauthored returns a live object without the fields of spec, labels and annotations that
// only an author has set: what the next manifest of the author leaves out is removed.
// Crossplane's own fields stay, because its updates are recorded under the name of its
// binary. Without managed fields, all fields stay.
func unauthored(live *tree.Node, author func(manager string) bool) *tree.Node {
	var theirs, others []*tree.Node
	for _, m := range live.Get("metadata", "managedFields").List() {
		if m.Get("subresource").Str() != "" {
			continue
		}
		if author(m.Get("manager").Str()) {
			theirs = append(theirs, m.Get("fieldsV1"))
			continue
		}
		others = append(others, m.Get("fieldsV1"))
	}
	for _, fields := range theirs {
		spec, meta := without(fields.Get("f:spec"), machineryFields...), fields.Get("f:metadata")
		if spec.IsMap() {
			live = with(live, "spec", orEmpty(strip(live.Get("spec"), spec, below(others, "f:spec"))))
		}
		for _, key := range []string{"labels", "annotations"} {
			if of := without(meta.Get("f:"+key), machineryLabels...); of.IsMap() && live.Get("metadata").Has(key) {
				kept := strip(live.Get("metadata", key), of, below(others, "f:metadata", "f:"+key))
				live = with(live, "metadata", with(live.Get("metadata"), key, orEmpty(kept)))
			}
		}
	}
	return live
}

// orEmpty returns a map, an empty one instead of nil.
func orEmpty(n *tree.Node) *tree.Node {
	if n == nil {
		return tree.Obj()
	}
	return n
}

// strip returns a value without a set of fields, except for those that others have set
// too; nil if nothing is left of it. Lists are removed as a whole.
func strip(n, fields *tree.Node, others []*tree.Node) *tree.Node {
	if !n.IsMap() || !fields.IsMap() {
		return n
	}
	out := tree.Obj()
	for _, f := range n.Fields {
		name := "f:" + f.Key
		set := fields.Get(name)
		if set == nil {
			out.Fields = append(out.Fields, f)
			continue
		}
		theirs := below(others, name)
		switch {
		case f.Value.IsMap() && hasFields(set):
			f.Value = strip(f.Value, set, theirs)
		case len(theirs) == 0:
			f.Value = nil
		}
		if f.Value != nil {
			out.Fields = append(out.Fields, f)
		}
	}
	if out.Len() == 0 && n.Len() > 0 {
		return nil
	}
	return out
}

// hasFields reports whether a set of fields names fields of a map.
func hasFields(set *tree.Node) bool {
	return slices.ContainsFunc(set.Fields, func(f tree.Field) bool { return strings.HasPrefix(f.Key, "f:") })
}

// below returns the parts of sets of fields at a path.
func below(sets []*tree.Node, path ...string) []*tree.Node {
	var out []*tree.Node
	for _, s := range sets {
		if at := s.Get(path...); at != nil {
			out = append(out, at)
		}
	}
	return out
}
