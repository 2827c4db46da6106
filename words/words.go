// Package words defines the vocabularies. The contract uses the terms portal, composer
// and orchestrator; the products are called Backstage, Crossplane and Kubernetes. Only
// identifiers differ, and the table in this package contains all differences.
//
// The engine works in the contract's vocabulary. In translates input, Out translates
// output. Both translate identifiers only, never text or schemas.
package words

import (
	"fmt"
	"strings"
)

// Vocabulary is one of the two vocabularies.
type Vocabulary uint8

// The vocabularies.
const (
	// Portal is the contract's own vocabulary.
	Portal Vocabulary = iota
	// Upstream is the vocabulary of Backstage, Crossplane and Kubernetes.
	Upstream
)

// String returns the name of the vocabulary in flags and configuration.
func (v Vocabulary) String() string { return [...]string{"portal", "upstream"}[v] }

// Choice is the user's choice of the output vocabulary.
type Choice struct {
	// Fixed, if not nil, is the vocabulary for all output. Nil means auto: the entities of
	// each definition use the vocabulary of the definition.
	Fixed *Vocabulary
}

// ParseChoice parses auto, portal or upstream.
func ParseChoice(s string) (Choice, error) {
	p, u := Portal, Upstream
	switch s {
	case "auto", "":
		return Choice{}, nil
	case p.String():
		return Choice{Fixed: &p}, nil
	case u.String():
		return Choice{Fixed: &u}, nil
	}
	return Choice{}, fmt.Errorf("cannot use words %q: must be auto, portal or upstream", s)
}

// String returns the name of the choice in flags and configuration.
func (c Choice) String() string {
	if c.Fixed == nil {
		return "auto"
	}
	return c.Fixed.String()
}

// For returns the output vocabulary for an object whose vocabulary is found.
func (c Choice) For(found Vocabulary) Vocabulary {
	if c.Fixed != nil {
		return *c.Fixed
	}
	return found
}

// Of returns the vocabulary of an apiVersion: Upstream if its group is an upstream one,
// else Portal.
func Of(apiVersion string) Vocabulary {
	group, _, _ := strings.Cut(apiVersion, "/")
	for _, r := range table {
		if r.place == Group && r.upstream == group {
			return Upstream
		}
	}
	return Portal
}

// Place is where an identifier occurs; the same word can mean different things in
// different places.
type Place uint8

// The places of identifiers.
const (
	// Group is an API group, the part of an apiVersion before the slash.
	Group Place = iota
	// Key is the key of an annotation or label.
	Key
	// Type is spec.type of an entity.
	Type
	// Tag is an entry of metadata.tags.
	Tag
	// Origin is the producer named in the template-origin annotation.
	Origin
	// Action is the action of a template's step.
	Action
	// Root is a top-level key of the configuration.
	Root
	// Path is the start of an HTTP path.
	Path
	// Body is a key of an HTTP body.
	Body
)

type row struct {
	place            Place
	portal, upstream string
	// prefix is true if the words are prefixes of identifiers.
	prefix bool
}

// understood lists foreign identifiers without a single upstream equivalent: they are
// accepted as input, and never written.
var understood = []row{
	{Action, ActionChangeRequest, "publish:github:pull-request", false},
	{Action, ActionChangeRequest, "publish:gitlab:merge-request", false},
}

// table contains all differences. The first matching row counts, so exact identifiers
// precede the prefixes they share.
var table = []row{
	{Group, "apiextensions.composer.io", "apiextensions.crossplane.io", false},
	{Group, "scaffolder.portal.io", "scaffolder.backstage.io", false},
	{Group, "portal.io", "backstage.io", false},

	{Key, "portal.io/cluster-id", "backstage.io/kubernetes-id", false},
	{Key, "portal.io/cluster-namespace", "backstage.io/kubernetes-namespace", false},
	{Key, "composer.io/", "crossplane.io/", true},
	{Key, "portal.io/", "backstage.io/", true},
	{Key, "scaffolder.portal.io/", "scaffolder.backstage.io/", true},
	{Key, "vendor.portal.io/", "terasky.backstage.io/", true},
	{Key, "composer.vendor.io/", "crossplane.terasky.io/", true},
	{Key, "example.dev/", "openportal.dev/", true},

	{Type, TypeXRD, "crossplane-xrd", false},
	{Type, TypeResource, "crossplane-resource", false},
	{Type, TypeComposition, "crossplane-composition", false},
	{Type, TypeXR, "crossplane-xr", false},

	{Tag, TagComposer, "crossplane", false},
	{Tag, TagSource, "source:crossplane-ingestor", false},
	{Origin, OriginIngestor, "crossplane-ingestor", false},

	{Action, ActionApply, "kubernetes:apply", false},
	{Action, ActionDelete, "kubernetes:delete", false},
	{Action, ActionCreate, "crossplane:create-xr", false},

	{Root, "composerIngestor", "crossplaneIngestor", false},
	{Root, "clusterIngestor", "kubernetesIngestor", false},
	{Root, "orchestrator", "kubernetes", false},

	{Path, "/api/composer-ingestor/", "/api/crossplane-ingestor/", true},
	{Path, "/api/orchestrator/", "/api/kubernetes/", true},

	{Body, "portalIdentity", "backstageIdentity", false},
}

// In translates an identifier at a place into the contract's vocabulary. Identifiers
// that are not in the table, or are already in the contract's vocabulary, are returned
// unchanged.
func In(p Place, s string) string {
	if own := Portal.Say(p, s); own != s {
		return own
	}
	for i := range understood {
		if r := &understood[i]; r.place == p && r.upstream == s {
			return r.portal
		}
	}
	return s
}

// Say translates an identifier of either vocabulary to v.
func (v Vocabulary) Say(p Place, s string) string {
	if v != Portal {
		return v.Out(p, s)
	}
	for i := range table {
		r := &table[i]
		if r.place != p {
			continue
		}
		if s == r.upstream {
			return r.portal
		}
		if r.prefix && strings.HasPrefix(s, r.upstream) {
			return r.portal + s[len(r.upstream):]
		}
	}
	return s
}

// Out translates an identifier from the contract's vocabulary to v.
func (v Vocabulary) Out(p Place, s string) string {
	if v == Portal {
		return s
	}
	if p == Key {
		// Frequently written keys are translated once.
		if up, ok := upstreamKeys[s]; ok {
			return up
		}
	}
	return translate(p, s)
}

// upstreamKeys maps the keys of entities to their upstream spelling.
var upstreamKeys = func() map[string]string {
	m := map[string]string{}
	for _, k := range []string{
		AnnotationXRDName, AnnotationXRDVersion, AnnotationCompositionRef, AnnotationSourceLocation, AnnotationManagedBy,
		AnnotationManagedByOrigin, AnnotationDiscoveredAt, AnnotationDiscoveredFrom, AnnotationTemplateOrigin,
		AnnotationTemplateVersion, AnnotationTemplatePurpose, AnnotationXRName, AnnotationXRAPIVersion, AnnotationXRKind, AnnotationClusterID,
		AnnotationClusterNamespace, AnnotationAPIKind, AnnotationOwner, AnnotationStale, AnnotationStaleSince,
		AnnotationConditionPrefix + "ready", AnnotationConditionPrefix + "synced", LabelVersion, LabelTemplateType,
	} {
		m[k] = translate(Key, k)
	}
	return m
}()

// translate looks up an identifier of the contract in the table.
func translate(p Place, s string) string {
	for i := range table {
		r := &table[i]
		if r.place != p {
			continue
		}
		if s == r.portal {
			return r.upstream
		}
		if r.prefix && strings.HasPrefix(s, r.portal) {
			return r.upstream + s[len(r.portal):]
		}
	}
	return s
}

// APIVersionIn translates the group of an apiVersion into the contract's vocabulary.
func APIVersionIn(s string) string {
	group, version, ok := strings.Cut(s, "/")
	if !ok {
		return s
	}
	return In(Group, group) + "/" + version
}

// APIVersion translates the group of an apiVersion of either vocabulary to v.
func (v Vocabulary) APIVersion(s string) string {
	if v == Portal {
		return APIVersionIn(s)
	}
	return v.APIVersionOut(s)
}

// APIVersionOut translates the group of an apiVersion to v.
func (v Vocabulary) APIVersionOut(s string) string {
	group, version, ok := strings.Cut(s, "/")
	if !ok || v == Portal {
		return s
	}
	return v.Out(Group, group) + "/" + version
}

// KeysIn translates the keys of annotations or labels. If both spellings of a key are
// present, the contract's wins.
func KeysIn(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	from := make(map[string]string, len(m))
	for k, v := range m {
		key := In(Key, k)
		// The contract's spelling wins, then the first in alphabetical order, so that the
		// result does not depend on the order of the map.
		if other, taken := from[key]; taken && (other == key || k != key && other < k) {
			continue
		}
		out[key], from[key] = v, k
	}
	return out
}

// KeysOut translates the keys of annotations or labels to v.
func (v Vocabulary) KeysOut(m map[string]string) map[string]string {
	if v == Portal || len(m) == 0 {
		return m
	}
	out := make(map[string]string, len(m))
	for k, val := range m {
		// If both spellings are present, the contract's wins here too.
		if v.Out(Key, k) == k && In(Key, k) != k {
			if _, own := m[In(Key, k)]; own {
				continue
			}
		}
		out[v.Out(Key, k)] = val
	}
	return out
}

// Spellings returns every spelling of an identifier of the contract that In accepts, the
// contract's own first.
func Spellings(p Place, s string) []string {
	out := []string{s}
	for i := range table {
		r := &table[i]
		if r.place != p {
			continue
		}
		up := r.upstream
		switch rest, ok := strings.CutPrefix(s, r.portal); {
		case ok && r.prefix:
			up += rest
		case s != r.portal:
			continue
		}
		// An earlier row may translate the spelling to something else.
		if In(p, up) == s {
			out = append(out, up)
		}
	}
	for i := range understood {
		if r := &understood[i]; r.place == p && r.portal == s {
			out = append(out, r.upstream)
		}
	}
	return out
}

// instead maps annotations of the contract to those that are used if they are missing.
var instead = map[string]string{
	AnnotationTags: AnnotationOtherTags, AnnotationOwner: AnnotationOtherOwner, AnnotationSystem: AnnotationOtherSystem,
}

// Pick returns the value of an annotation and the key under which it was found, with all
// keys in the contract's vocabulary: the contract's key or, if that has no value, its
// substitute.
func Pick(annotations map[string]string, key string) (value, from string) {
	if other := instead[key]; annotations[key] == "" && annotations[other] != "" {
		return annotations[other], other
	}
	return annotations[key], key
}
