package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is a permission as in a ClusterRole.
type Rule struct {
	Groups, Resources, Verbs []string
	// URLs are non-resource URLs; a rule has either these or the other fields.
	URLs []string
}

// Empty reports whether it grants nothing.
func (r Rule) Empty() bool { return len(r.Resources)+len(r.URLs) == 0 }

// YAML returns the rule as it is written in a ClusterRole.
func (r Rule) YAML() string {
	list := func(ss []string) string {
		quoted := make([]string, len(ss))
		for i, s := range ss {
			quoted[i] = fmt.Sprintf("%q", s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	if len(r.URLs) > 0 {
		return fmt.Sprintf("- nonResourceURLs: %s\n  verbs: %s", list(r.URLs), list(r.Verbs))
	}
	return fmt.Sprintf("- apiGroups: %s\n  resources: %s\n  verbs: %s", list(r.Groups), list(r.Resources), list(r.Verbs))
}

// permission returns the rule for verbs on one resource.
func permission(r Resource, verbs ...string) Rule {
	return Rule{Groups: []string{r.Group}, Resources: []string{r.Plural}, Verbs: verbs}
}

// Merge merges rules that differ only in their verbs or only in their resources, so
// that missing permissions can be added in as few lines as possible.
func Merge(rules []Rule) []Rule {
	join := func(in []Rule, same func(a, b Rule) bool, into func(a *Rule, b Rule)) []Rule {
		var out []Rule
	next:
		for _, r := range in {
			for i := range out {
				if same(out[i], r) {
					into(&out[i], r)
					continue next
				}
			}
			out = append(out, r)
		}
		return out
	}
	union := func(a, b []string) []string {
		all := slices.Concat(a, b)
		slices.Sort(all)
		return slices.Compact(all)
	}
	rules = join(rules,
		func(a, b Rule) bool {
			return slices.Equal(a.Groups, b.Groups) && slices.Equal(a.Resources, b.Resources)
		},
		func(a *Rule, b Rule) { a.Verbs = union(a.Verbs, b.Verbs) })
	return join(rules,
		func(a, b Rule) bool {
			return slices.Equal(a.Groups, b.Groups) && slices.Equal(a.Verbs, b.Verbs) && slices.Equal(a.URLs, b.URLs)
		},
		func(a *Rule, b Rule) { a.Resources = union(a.Resources, b.Resources) })
}
