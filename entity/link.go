package entity

import (
	"fmt"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/words"
)

// linkSchemes are the URL schemes that a portal shows as links. Browsers execute
// javascript: URLs and show data: URLs as pages.
const linkSchemes = "http, https or mailto"

const linkHint = "use an http, https or mailto URL, or remove it"

// locationTypeURL is the type of a location whose target is a web address, which portals
// show as a link.
const locationTypeURL = "url"

// webAnnotations are the annotations that portals show as a link, in both
// vocabularies.
var webAnnotations = spellings(words.AnnotationViewURL, words.AnnotationEditURL)

// locationAnnotations are the annotations of the form type:target whose target
// portals show as a link if the type is url.
var locationAnnotations = spellings(words.AnnotationSourceLocation, words.AnnotationManagedBy, words.AnnotationManagedByOrigin, words.AnnotationTechDocs)

func spellings(keys ...string) map[string]bool {
	out := make(map[string]bool, 2*len(keys))
	for _, key := range keys {
		for _, s := range words.Spellings(words.Key, key) {
			out[s] = true
		}
	}
	return out
}

// Scheme returns the scheme of a URL in lower case as a browser parses it; empty if the
// URL is relative. Browsers skip control characters and spaces before a URL, and tabs
// and line breaks anywhere in it.
func Scheme(url string) string {
	var scheme []byte
	begun := false
	for i := range len(url) {
		c := url[i]
		switch {
		case c == '\t' || c == '\n' || c == '\r' || !begun && c <= ' ':
			continue
		case c == ':' && begun:
			return string(scheme)
		case !isIn(c, lower|upper) && (!begun || !isIn(c, alphanumeric|dash) && c != '+' && c != '.'):
			return ""
		case isIn(c, upper):
			c += 'a' - 'A'
		}
		begun = true
		scheme = append(scheme, c)
	}
	return ""
}

// IsHref reports whether a page may link to a URL that comes from data: an absolute
// http, https or mailto URL, or a relative one.
func IsHref(url string) bool {
	switch Scheme(url) {
	case "", "http", "https", "mailto":
		return true
	}
	return false
}

// isLink reports whether s is an absolute URL that a portal can show as a link: http or
// https with a host, or mailto.
func isLink(s string) bool { return isURL(s) && IsHref(s) }

// badURL returns the URL in an annotation's value that no page may link to, or "".
func badURL(key, value string) string {
	if locationAnnotations[key] {
		// A location may be a local file or a repository over SSH: pages do not link to those,
		// and nothing executes them.
		if kind, target, _ := strings.Cut(value, ":"); kind == locationTypeURL && isScript(Scheme(target)) {
			return target
		}
	}
	scheme := Scheme(value)
	// A plugin may show any annotation as a link, and no other text begins like a script.
	if webAnnotations[key] && !IsHref(value) || scheme == "javascript" || scheme == "vbscript" {
		return value
	}
	return ""
}

// isScript reports whether a browser executes a URL of this scheme or shows it as a page
// of the portal.
func isScript(scheme string) bool {
	return scheme == "javascript" || scheme == "vbscript" || scheme == "data"
}

func isSafeAnnotation(key, value string) bool { return badURL(key, value) == "" }

// urls checks everything that portals show as a link.
func (c *checker) urls() {
	for i, l := range c.e.Metadata.Links {
		switch path := itemPath("metadata.links", i) + ".url"; {
		case !isURL(l.URL):
			c.report(RuleLinkURL, path, fmt.Sprintf("link %q is not an absolute URL", l.URL), "write a URL with a scheme and a host, such as https://example.com")
		case !isLink(l.URL):
			c.report(RuleLinkURL, path, fmt.Sprintf("link %q has URL scheme %s, which portals do not show", l.URL, Scheme(l.URL)), linkHint)
		}
	}
	annotations := c.e.Metadata.Annotations
	for _, k := range badKeys(annotations, isSafeAnnotation) {
		c.report(RuleAnnotationURL, keyPath("metadata.annotations", k),
			fmt.Sprintf("annotation %s is %q, with URL scheme %s, which portals do not show", k, annotations[k], Scheme(badURL(k, annotations[k]))), linkHint)
	}
	if c.e.Kind != KindTemplate {
		return
	}
	for i, l := range c.e.Spec.Get("output", "links").List() {
		// The result of an expression is checked when the task ends. Templates offer generated
		// content for download as a data: link: it is stored as text, and pages do not link to
		// it.
		if url := l.Get("url"); url.IsString() && !IsHref(url.Text) && Scheme(url.Text) != "data" {
			c.report(RuleOutputURL, itemPath("spec.output.links", i)+".url",
				fmt.Sprintf("link %q has URL scheme %s, which portals do not show", url.Text, Scheme(url.Text)), linkHint)
		}
	}
}

// DropUnsafeURLs removes from an entity the links and annotations whose URLs violate the
// catalog's rules, so that the catalog does not reject the entity, and returns a finding
// for each.
func DropUnsafeURLs(e *Entity) []finding.Finding {
	c := checker{e: e}
	var kept []Link
	for i, l := range e.Metadata.Links {
		if isLink(l.URL) {
			kept = append(kept, l)
			continue
		}
		c.report(RuleDroppedURL, itemPath("metadata.links", i)+".url", fmt.Sprintf("link %q is dropped: not an absolute URL with scheme %s", l.URL, linkSchemes), linkHint)
	}
	for _, k := range badKeys(e.Metadata.Annotations, isSafeAnnotation) {
		c.report(RuleDroppedURL, keyPath("metadata.annotations", k),
			fmt.Sprintf("annotation %s is dropped: %q is not a URL with scheme %s", k, e.Metadata.Annotations[k], linkSchemes), linkHint)
		delete(e.Metadata.Annotations, k)
	}
	if len(c.out) > 0 {
		e.Metadata.Links = kept
	}
	return c.out
}
