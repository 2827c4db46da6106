package xrd

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// MachineryV2 is the spec field that Crossplane sets on composites of v2 definitions.
const MachineryV2 = "crossplane"

// MachineryV1 are the spec fields that Crossplane sets on composites and claims of v1
// definitions.
var MachineryV1 = []string{
	"compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector",
	"compositionUpdatePolicy", "compositeDeletePolicy", "claimRef", "resourceRef", "resourceRefs",
	"environmentConfigRefs", "publishConnectionDetailsTo", "writeConnectionSecretToRef",
}

// Asked returns a resource with only the requested fields of its spec, without those
// that Crossplane set. Managed fields distinguish them; without managed fields, all are
// taken as requested.
func Asked(live *tree.Node) *tree.Node {
	spec, managed := live.Get("spec"), live.Get("metadata", "managedFields").List()
	if !spec.IsMap() || len(managed) == 0 {
		return live
	}
	ours := func(path ...string) bool {
		return slices.ContainsFunc(managed, func(m *tree.Node) bool {
			return m.Get("manager").Str() == words.FieldManager && m.Get(append([]string{"fieldsV1", "f:spec"}, path...)...) != nil
		})
	}
	kept := tree.Obj()
	for _, f := range spec.Fields {
		switch {
		case f.Key == MachineryV2 && f.Value.IsMap():
			// Crossplane writes into the same object as the portal.
			told := tree.Obj()
			for _, inner := range f.Value.Fields {
				if ours("f:"+f.Key, "f:"+inner.Key) {
					told.Fields = append(told.Fields, inner)
				}
			}
			if len(told.Fields) > 0 {
				kept.Fields = append(kept.Fields, tree.F(f.Key, told))
			}
		case !slices.Contains(MachineryV1, f.Key), ours("f:" + f.Key):
			kept.Fields = append(kept.Fields, f)
		}
	}
	out := tree.Obj(slices.Clone(live.Fields)...)
	out.Set("spec", kept)
	return out
}

// Observed returns a fingerprint of the requested fields of a resource, for a later
// comparison with Changed: a hash for the name, the owner and each field of the first
// two levels of spec. It is never empty.
func Observed(live *tree.Node) string {
	marks := url.Values{}
	for path, hash := range marksOf(live) {
		marks.Set(path, hash)
	}
	return marks.Encode()
}

// Changed returns the sorted paths of the fields that differ from a fingerprint made by
// Observed.
func Changed(observed string, live *tree.Node) ([]string, error) {
	then, err := url.ParseQuery(observed)
	if err != nil {
		return nil, fmt.Errorf("cannot read the observed state: %w", err)
	}
	now := marksOf(live)
	var out []string
	for path := range then {
		if now[path] != then.Get(path) {
			out = append(out, path)
		}
	}
	for path := range now {
		if !then.Has(path) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out, nil
}

// marksOf returns a hash of each part of a resource, by its path.
func marksOf(live *tree.Node) map[string]string {
	out := map[string]string{}
	mark := func(path string, v *tree.Node) {
		sum := sha256.Sum256(tree.AppendCanonical(nil, v))
		out[path] = base64.RawURLEncoding.EncodeToString(sum[:3])
	}
	mark("name", tree.Str(live.Get("metadata", "name").Str()))
	if owner := words.KeysIn(live.Get("metadata", "annotations").StringMap())[words.AnnotationOwner]; owner != "" {
		mark("owner", tree.Str(owner))
	}
	for _, f := range fieldsOf(Asked(live).Get("spec")) {
		inner := fieldsOf(f.Value)
		if len(inner) == 0 {
			mark("spec."+f.Key, f.Value)
		}
		for _, g := range inner {
			mark("spec."+f.Key+"."+g.Key, g.Value)
		}
	}
	return out
}

// fieldsOf returns the fields of a map, or nil for anything else.
func fieldsOf(n *tree.Node) []tree.Field {
	if !n.IsMap() {
		return nil
	}
	return n.Fields
}
