package lint

import (
	"slices"
	"strings"

	"example.dev/ingestor/words"
)

// prefixes are the prefixes of the labels and annotations that this project reads or
// writes. Crossplane's own prefix is not included: it has many other keys.
var prefixes = []string{"portal.io", "scaffolder.portal.io", "vendor.portal.io", "composer.vendor.io", "example.dev"}

// foreignWords are known annotations with one of the prefixes that say nothing about a
// definition: those of entities and of objects that the portal writes, and those that
// other programs read. An entry that ends in a dash or slash is a prefix.
var foreignWords = []string{
	words.AnnotationSourceLocation, words.AnnotationManagedBy, words.AnnotationManagedByOrigin, words.AnnotationViewURL,
	words.AnnotationEditURL, words.AnnotationTechDocs, words.AnnotationDiscoveredAt, words.AnnotationDiscoveredFrom,
	words.AnnotationTemplateOrigin, words.AnnotationTemplateVersion, words.AnnotationTemplatePurpose,
	words.AnnotationXRName, words.AnnotationXRAPIVersion, words.AnnotationXRKind, words.AnnotationClusterID, words.AnnotationClusterNamespace,
	words.AnnotationStale, words.AnnotationStaleSince, words.AnnotationLeftBehind, words.AnnotationMadeName,
	words.AnnotationRequestedBy, words.AnnotationTask, words.AnnotationFromTemplate,

	// Annotations of the portal's own plugins.
	"portal.io/kubernetes-", "portal.io/techdocs-", "portal.io/orphan", "portal.io/code-coverage", "portal.io/adr-location",
	"portal.io/time-saved", "portal.io/ldap-",

	// Annotations of the ingestor that reads clusters for the portal.
	"vendor.portal.io/add-to-catalog", "vendor.portal.io/exclude-from-catalog", "vendor.portal.io/backstage-namespace",
	"vendor.portal.io/component-", "vendor.portal.io/consumesApis", "vendor.portal.io/dependsOn", "vendor.portal.io/description",
	"vendor.portal.io/domain", "vendor.portal.io/kubernetes-", "vendor.portal.io/links", "vendor.portal.io/name", "vendor.portal.io/providesApis",
	"vendor.portal.io/source-", "vendor.portal.io/subcomponent-of", "vendor.portal.io/techdocs-path", "vendor.portal.io/title",
}

// isForeign reports whether an annotation, in the contract's vocabulary, is one of
// foreignWords.
func isForeign(key string) bool {
	return slices.ContainsFunc(foreignWords, func(w string) bool {
		return w == key || (strings.HasSuffix(w, "-") || strings.HasSuffix(w, "/")) && strings.HasPrefix(key, w)
	})
}
