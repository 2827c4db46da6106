package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/xrd"
)

// Pair is a definition before and after. Old is nil if it is added, New if it is removed;
// their names differ if it is renamed.
type Pair struct {
	Old, New *xrd.Definition
	// Changes are sorted.
	Changes []Change
}

// Name returns the name of the definition: the new one if it has one.
func (p *Pair) Name() string {
	if p.New != nil {
		return p.New.Label()
	}
	return p.Old.Label()
}

// Renamed reports whether the definition was renamed.
func (p *Pair) Renamed() bool { return p.Old != nil && p.New != nil && p.Old.Name != p.New.Name }

// CompareSets compares the definitions of two sets. Definitions are the same if they have
// the same name. One that was removed and one that was added are one that was renamed if
// they have the same kind, or the same schemas, and no other pair does. The result is
// sorted by name, and has pairs without changes too. CompareSets returns an error only if ctx
// ends.
func CompareSets(ctx context.Context, older, newer *xrd.Set) ([]Pair, error) {
	// Conflicts are findings of those who read the sets.
	before, _ := xrd.Merge(older.Definitions)
	after, _ := xrd.Merge(newer.Definitions)
	var pairs []Pair
	var gone []*xrd.Definition
	for _, o := range before {
		i := slices.IndexFunc(after, func(n *xrd.Definition) bool { return n.Name == o.Name })
		if i < 0 {
			gone = append(gone, o)
			continue
		}
		changes, err := Compare(ctx, o, after[i])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, Pair{Old: o, New: after[i], Changes: changes})
		after = slices.Delete(after, i, i+1)
	}
	for _, same := range []func(a, b *xrd.Definition) bool{sameKind, sameSchemas} {
		for _, o := range slices.Clone(gone) {
			n := only(after, func(n *xrd.Definition) bool { return same(o, n) })
			if n == nil || only(gone, func(other *xrd.Definition) bool { return same(other, n) }) == nil {
				continue
			}
			changes, err := renamed(ctx, o, n)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, Pair{Old: o, New: n, Changes: changes})
			gone = slices.DeleteFunc(gone, func(d *xrd.Definition) bool { return d == o })
			after = slices.DeleteFunc(after, func(d *xrd.Definition) bool { return d == n })
		}
	}
	for _, o := range gone {
		pairs = append(pairs, removed(o))
	}
	for _, n := range after {
		c := newComparison(nil, n)
		c.report(RuleAdded, n, nil, Change{Message: fmt.Sprintf("definition %s added", n.Label())})
		pairs = append(pairs, Pair{New: n, Changes: c.changes})
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return strings.Compare(a.Name(), b.Name()) })
	return pairs, nil
}

// only returns the one definition of all that matches; nil if there is none, or several.
func only(all []*xrd.Definition, match func(*xrd.Definition) bool) *xrd.Definition {
	var found *xrd.Definition
	for _, d := range all {
		if !match(d) {
			continue
		}
		if found != nil {
			return nil
		}
		found = d
	}
	return found
}

func sameKind(a, b *xrd.Definition) bool { return a.Names.Kind != "" && a.Names.Kind == b.Names.Kind }

// sameSchemas reports whether two definitions have the same versions with the same
// schemas, which are not empty.
func sameSchemas(a, b *xrd.Definition) bool {
	return len(a.Versions) > 0 && slices.EqualFunc(a.Versions, b.Versions, func(v, o *xrd.Version) bool {
		return v.Name == o.Name && v.Schema != nil && v.Spec().Get("properties").Len() > 0 && v.Schema.Equal(o.Schema)
	})
}

// removed returns the pair of a definition that is removed.
func removed(o *xrd.Definition) Pair {
	c := newComparison(nil, o)
	c.report(RuleRemoved, o, nil, Change{Message: fmt.Sprintf("definition %s removed", o.Label())})
	return Pair{Old: o, Changes: c.changes}
}

// renamed returns the changes of a definition that has another name.
func renamed(ctx context.Context, o, n *xrd.Definition) ([]Change, error) {
	c := newComparison(o, n)
	why := "the kind is the same"
	if !sameKind(o, n) {
		why = "the schemas are the same"
	}
	c.report(RuleRenamed, n, []string{"metadata", "name"}, Change{Message: fmt.Sprintf("definition renamed from %s to %s (%s)", o.Label(), n.Label(), why), Old: o.Name, New: n.Name})
	return c.rest(ctx)
}

// Changes returns the changes of all pairs, sorted.
func Changes(pairs []Pair) []Change {
	var all []Change
	for i := range pairs {
		all = append(all, pairs[i].Changes...)
	}
	Sort(all)
	return all
}

// Incomparable returns the change of a definition of which one side cannot be read.
func Incomparable(d *xrd.Definition, message string) Change {
	c := newComparison(nil, d)
	c.report(RuleIncomparable, d, nil, Change{Message: message})
	return c.changes[0]
}
