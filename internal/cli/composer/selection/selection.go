// Package selection has the conditions on definitions, one by one, so that each can be
// explained.
package selection

import (
	"fmt"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Filter is one condition on definitions.
type Filter struct {
	// Name is where the filter is set, Asks what it requires.
	Name, Asks string
	Admit      func(*xrd.Definition) (ok bool, why string)
}

// Selection is a list of filters, in the order of evaluation.
type Selection []Filter

// Refusal returns why a definition is not taken, empty if it is taken.
func (s Selection) Refusal(d *xrd.Definition) string {
	for _, f := range s {
		if ok, why := f.Admit(d); !ok {
			return why
		}
	}
	return ""
}

// Takes reports whether a definition is taken.
func (s Selection) Takes(d *xrd.Definition) bool { return s.Refusal(d) == "" }

// OfProfile returns the conditions of a profile.
func OfProfile(p engine.Profile) Selection {
	var asks []string
	if p.Modern {
		asks = append(asks, "scope Namespaced or Cluster, in version v2")
	}
	if p.RequiredLabel != "" {
		label := strings.Join(words.Spellings(words.Key, p.RequiredLabel), " or ")
		asks = append(asks, fmt.Sprintf("label %s: \"true\"", label))
	}
	return Selection{{Name: "profile " + p.Name, Asks: strings.Join(asks, "; "), Admit: p.Admit}}
}

// PartNames are the configuration keys or flags of the parts of a filter.
type PartNames struct{ exclude, name, groups, labels, annotations string }

// Names of the parts, by where a filter is set.
var (
	ConfigNames = PartNames{exclude: "exclude", groups: "groups", labels: "labelSelector", annotations: "annotationSelector"}
	// With this key, a filter replaces the required label of variant B's profile.
	IngestAllNames = PartNames{labels: "composer.xrds.ingestAllXRDs"}
	FlagNames      = PartNames{name: "name-pattern", groups: "group", labels: "selector"}
)

// Split splits a filter into its conditions, in the order of evaluation, so that
// each can be evaluated separately.
func Split(prefix string, names PartNames, f xrd.Filter) Selection {
	var out Selection
	add := func(there bool, name, asks string, part xrd.Filter) {
		if there {
			out = append(out, Filter{Name: prefix + name, Asks: asks, Admit: part.Admit})
		}
	}
	add(len(f.Exclude) > 0, names.exclude, "none of "+strings.Join(f.Exclude, ", "), xrd.Filter{Exclude: f.Exclude})
	if f.Name != nil {
		add(true, names.name, f.Name.String(), xrd.Filter{Name: f.Name})
	}
	add(len(f.Groups) > 0, names.groups, strings.Join(f.Groups, ", "), xrd.Filter{Groups: f.Groups})
	add(!f.Labels.Empty(), names.labels, f.Labels.String(), xrd.Filter{Labels: f.Labels})
	add(!f.Annotations.Empty(), names.annotations, f.Annotations.String(), xrd.Filter{Annotations: f.Annotations})
	return out
}
