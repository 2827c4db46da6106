// Package words is the vocabulary. The contract speaks of portal, composer and
// orchestrator; the products people run call the same things Backstage,
// Crossplane and Kubernetes. The difference is only in identifiers, and all of
// it stands in the table of this package.
//
// The engine thinks in the contract's words. In translates what arrives, Out
// what leaves. Both look at identifiers only, never at text or schemas.
package words

import (
	"fmt"
	"strings"
)

// Vocabulary is one of the two ways to say the same thing.
type Vocabulary uint8

// The vocabularies.
const (
	// Portal is the contract's own vocabulary.
	Portal Vocabulary = iota
	// Upstream is that of Backstage, Crossplane and Kubernetes.
	Upstream
)

// String names the vocabulary as flags and configuration do.
func (v Vocabulary) String() string { return [...]string{"portal", "upstream"}[v] }

// Choice is how a user chooses the vocabulary of what is written.
type Choice struct {
	// Fixed, when not nil, is the vocabulary for everything. Nil means auto:
	// each definition's entities speak as the definition does.
	Fixed *Vocabulary
}

// ParseChoice reads auto, portal or upstream.
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
	return Choice{}, fmt.Errorf("cannot use words %q: want auto, portal or upstream", s)
}

// String names the choice as flags and configuration do.
func (c Choice) String() string {
	if c.Fixed == nil {
		return "auto"
	}
	return c.Fixed.String()
}

// For returns the vocabulary for what is made of an object that speaks found.
func (c Choice) For(found Vocabulary) Vocabulary {
	if c.Fixed != nil {
		return *c.Fixed
	}
	return found
}

// Of returns the vocabulary an apiVersion is written in: Upstream if one of
// its groups is, else Portal.
func Of(apiVersion string) Vocabulary {
	group, _, _ := strings.Cut(apiVersion, "/")
	for _, r := range table {
		if r.place == Group && r.upstream == group {
			return Upstream
		}
	}
	return Portal
}

// Place is where an identifier stands; the same word can mean different
// things in different places.
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
	// prefix says that the words are the beginning of the identifier.
	prefix bool
}

// understood are words of others for something that has no one word upstream:
// they are understood, and never written.
var understood = []row{
	{Action, ActionChangeRequest, "publish:github:pull-request", false},
	{Action, ActionChangeRequest, "publish:gitlab:merge-request", false},
}

// table is the whole difference. The first row that fits counts, so exact
// identifiers stand before the prefixes they share.
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

// In translates an identifier found at a place into the contract's words.
// What is not in the table, and what is in the contract's words already, is
// returned as it is.
func In(p Place, s string) string {
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
	for i := range understood {
		if r := &understood[i]; r.place == p && r.upstream == s {
			return r.portal
		}
	}
	return s
}

// Out translates an identifier from the contract's words into v's.
func (v Vocabulary) Out(p Place, s string) string {
	if v == Portal {
		return s
	}
	if p == Key {
		// The keys that are written over and over are translated once.
		if up, ok := upstreamKeys[s]; ok {
			return up
		}
	}
	return translate(p, s)
}

// upstreamKeys are the keys of entities in upstream words.
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

// translate looks an identifier of the contract up in the table.
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

// APIVersionIn translates the group of an apiVersion into the contract's words.
func APIVersionIn(s string) string {
	group, version, ok := strings.Cut(s, "/")
	if !ok {
		return s
	}
	return In(Group, group) + "/" + version
}

// APIVersionOut translates the group of an apiVersion into v's words.
func (v Vocabulary) APIVersionOut(s string) string {
	group, version, ok := strings.Cut(s, "/")
	if !ok || v == Portal {
		return s
	}
	return v.Out(Group, group) + "/" + version
}

// KeysIn translates the keys of annotations or labels. If both spellings of a
// key are given, the contract's own wins.
func KeysIn(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	from := make(map[string]string, len(m))
	for k, v := range m {
		key := In(Key, k)
		// Of several spellings the contract's own wins, then the first in
		// order, so that the result does not depend on that of the map.
		if other, taken := from[key]; taken && (other == key || k != key && other < k) {
			continue
		}
		out[key], from[key] = v, k
	}
	return out
}

// KeysOut translates the keys of annotations or labels into v's words.
func (v Vocabulary) KeysOut(m map[string]string) map[string]string {
	if v == Portal || len(m) == 0 {
		return m
	}
	out := make(map[string]string, len(m))
	for k, val := range m {
		// If both spellings are there, the contract's own wins here too.
		if v.Out(Key, k) == k && In(Key, k) != k {
			if _, own := m[In(Key, k)]; own {
				continue
			}
		}
		out[v.Out(Key, k)] = val
	}
	return out
}

// Spellings returns every way to write an identifier of the contract's that
// In understands, its own first.
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
		// A row that stands before may understand it as something else.
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

// instead are the annotations that are read where one of the contract's is not
// there.
var instead = map[string]string{
	AnnotationTags: AnnotationOtherTags, AnnotationOwner: AnnotationOtherOwner, AnnotationSystem: AnnotationOtherSystem,
}

// Pick returns the value of an annotation, all keys being in the contract's
// words, and the key it stands under: the contract's own or, if that has none,
// the one that is read in its place.
func Pick(annotations map[string]string, key string) (value, from string) {
	if other := instead[key]; annotations[key] == "" && annotations[other] != "" {
		return annotations[other], other
	}
	return annotations[key], key
}
