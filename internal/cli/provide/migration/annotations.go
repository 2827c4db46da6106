package migration

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// Setting is an annotation that kubernetes-ingestor reads on Kubernetes objects, and what
// the portal has instead.
type Setting struct {
	Name string `json:"annotation"`
	// Portal is what to write for the portal, or that the annotation stays, or that there is
	// no counterpart.
	Portal string `json:"portal"`
	// Objects counts the objects that have it. kubernetes-ingestor copies the annotations of
	// an object to its entity.
	Objects int `json:"objects"`
}

const (
	stays         = "stays"
	noCounterpart = "no counterpart"
)

// settingsOf returns the settings of kubernetes-ingestor with a prefix. The portal reads
// some of them, but only with the default prefix.
func settingsOf(prefix string) []*Setting {
	up := func(key string) string { return words.Upstream.Out(words.Key, key) }
	label := "label " + up(words.LabelClusterID)
	same := func(key string) string {
		if prefix == DefaultPrefix {
			return stays
		}
		return up(key)
	}
	var out []*Setting
	for _, s := range [][2]string{
		{"owner", same(words.AnnotationOwner)},
		{"system", same(words.AnnotationSystem) + " on workloads; composites have that of their XRD"},
		{"lifecycle", same(words.AnnotationLifecycle) + " on workloads; " + noCounterpart + " on composites"},
		{"add-to-catalog", label + " on workloads, label " + up(words.LabelIngest) + " on XRDs"},
		{"exclude-from-catalog", "leave out the label that selects the object"},
		{"name", label + ", which names the Component; " + noCounterpart + " on composites"},
		{"kubernetes-label-selector", label + ", also on the pods"},
		{"title", noCounterpart},
		{"description", noCounterpart},
		{"backstage-namespace", noCounterpart},
		{"component-type", noCounterpart},
		{"subcomponent-of", noCounterpart},
		{"dependsOn", noCounterpart},
		{"providesApis", noCounterpart},
		{"consumesApis", noCounterpart},
		{"provides-api-from-def", noCounterpart},
		{"provides-api-from-url", noCounterpart},
		{"provides-api-from-resource-ref", noCounterpart},
		{"component-annotations", noCounterpart},
		{"source-code-repo-url", noCounterpart},
		{"source-branch", noCounterpart},
		{"techdocs-path", noCounterpart},
		{"system-type", noCounterpart},
		{"domain", noCounterpart},
		// The entity has the links, not the annotation.
		{"links", noCounterpart},
	} {
		out = append(out, &Setting{Name: prefix + "/" + s[0], Portal: s[1]})
	}
	return out
}

// madeTypes are values of component-type that kubernetes-ingestor itself writes to entities.
var madeTypes = []string{"crossplane-claim", "crossplane-xr", "kro-instance"}

// isSet reports whether the object of an entity has the annotation.
func (s *Setting) isSet(n *tree.Node) bool {
	value := n.Get("metadata", "annotations", s.Name).Str()
	switch {
	case strings.HasSuffix(s.Name, "/links"):
		return n.Get("metadata", "links").Len() > 0
	case strings.HasSuffix(s.Name, "/component-type"):
		return value != "" && !slices.Contains(madeTypes, value)
	}
	return value != ""
}
