package composer

import (
	"fmt"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// filter is one thing that is asked of definitions.
type filter struct {
	// name says where it is set, asks what it asks for.
	name, asks string
	admit      func(*xrd.Definition) (ok bool, why string)
}

// selection is everything that is asked of definitions, in the order in which
// it is asked.
type selection []filter

// refusal says why a definition is not taken; it is empty if it is.
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

// asked returns what a profile asks of definitions.
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

// partNames are what the parts of a filter are called where they are set.
type partNames struct{ exclude, name, groups, labels, annotations string }

var (
	filterNames = partNames{exclude: "exclude", groups: "groups", labels: "labelSelector", annotations: "annotationSelector"}
	// What the profile of variant B does not ask, this key does.
	ingestAllNames = partNames{labels: "composer.xrds.ingestAllXRDs"}
	flagNames      = partNames{name: "name-pattern", groups: "group", labels: "selector"}
)

// parts takes a filter apart, so that each part can be asked for itself. They
// are in the order in which the filter asks.
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
