package xrd

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

// MergeCompositions merges the Compositions with the same name, as Merge does for
// definitions. The result is sorted by name.
func MergeCompositions(all []*Composition) ([]*Composition, []finding.Finding) {
	return mergeObjects(all, func(c *Composition) *Object { return &c.Object }, func(o *Object) string { return o.Name })
}

// MergeObjects merges the objects of the same group, kind, name and namespace in the
// same cluster, regardless of the API version they were read through. The result is
// sorted by group, kind, namespace, name and cluster.
func MergeObjects(all []*Object) ([]*Object, []finding.Finding) {
	return mergeObjects(all, func(o *Object) *Object { return o }, func(o *Object) string {
		return strings.Join([]string{o.Group(), o.Kind, o.Namespace, o.Name, o.Origin.Cluster}, "\x00")
	})
}

// mergeObjects keeps one of all objects with the same key: the one with the higher
// generation, then the first by position. Objects without a name are all kept.
func mergeObjects[T any](all []T, object func(T) *Object, key func(*Object) string) (kept []T, findings []finding.Finding) {
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, func(x, y T) int {
		a, b := object(x), object(y)
		if c := cmp.Or(strings.Compare(key(a), key(b)), cmp.Compare(b.Generation, a.Generation), comparePlaces(a, b)); c != 0 {
			return c
		}
		return compareRest(a, b)
	})
	for i, x := range ordered {
		o := object(x)
		if i == 0 || o.Name == "" {
			kept = append(kept, x)
			continue
		}
		winner := object(kept[len(kept)-1])
		if key(winner) != key(o) {
			kept = append(kept, x)
			continue
		}
		if !sameContent(winner, o) {
			findings = append(findings, conflict(o.Kind, winner, o))
		}
	}
	return kept, findings
}

// sameContent reports whether two objects have equal content, ignoring what an API
// server added.
func sameContent(a, b *Object) bool {
	a, b = a.Whole(), b.Whole()
	return a.Node.Get("spec").Equal(b.Node.Get("spec")) &&
		tree.StrMap(a.Labels).Equal(tree.StrMap(b.Labels))
}
