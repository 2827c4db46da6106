package composer

import (
	"fmt"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// filter is one condition on definitions.
type filter struct {
	// name is where the filter is set, asks what it requires.
	name, asks string
	admit      func(*xrd.Definition) (ok bool, why string)
}

// selection is a list of filters, in the order of evaluation.
type selection []filter

// refusal returns why a definition is not taken, empty if it is taken.
func (s selection) refusal(d *xrd.Definition) string {
	for _, f := range s {
		if ok, why := f.admit(d); !ok {
			return why
		}
	}
	return ""
}

// takes reports whether a definition is taken.
func (s selection) takes(d *xrd.Definition) bool { return s.refusal(d) == "" }

// asked returns the conditions of a profile.
func asked(p engine.Profile) selection {
	var asks []string
	if p.Modern {
		asks = append(asks, "scope Namespaced or Cluster, in version v2")
	}
	if p.RequiredLabel != "" {
		label := strings.Join(words.Spellings(words.Key, p.RequiredLabel), " or ")
		asks = append(asks, fmt.Sprintf("label %s: \"true\"", label))
	}
	return selection{{name: "profile " + p.Name, asks: strings.Join(asks, "; "), admit: p.Admit}}
}

// partNames are the configuration keys or flags of the parts of a filter.
type partNames struct{ exclude, name, groups, labels, annotations string }

var (
	filterNames = partNames{exclude: "exclude", groups: "groups", labels: "labelSelector", annotations: "annotationSelector"}
	// With this key, a filter replaces the required label of variant B's profile.
	ingestAllNames = partNames{labels: "composer.xrds.ingestAllXRDs"}
	flagNames      = partNames{name: "name-pattern", groups: "group", labels: "selector"}
)

// parts splits a filter into its conditions, in the order of evaluation, so that
// each can be evaluated separately.
func parts(prefix string, names partNames, f xrd.Filter) selection {
	var out selection
	add := func(there bool, name, asks string, part xrd.Filter) {
		if there {
			out = append(out, filter{name: prefix + name, asks: asks, admit: part.Admit})
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
