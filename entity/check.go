package entity

import (
	"fmt"
	"slices"
	"strconv"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/words"
)

// managedBy are the annotations from which a catalog knows what manages an entity.
var managedBy = [][2]string{
	bothSpellings(words.AnnotationManagedBy),
	bothSpellings(words.AnnotationManagedByOrigin),
}

// Check checks the entity against the catalog's rules and returns the violations in a
// stable order. It accepts both vocabularies. It does not check the schemas of a
// Template's parameters.
func Check(e *Entity) []finding.Finding {
	c := checker{e: e}
	c.head()
	c.labels()
	c.annotations()
	c.tags()
	c.urls()
	c.spec()
	return c.out
}

// CheckAll checks each entity, and that no two have the same reference. The findings are
// in the order of the entities.
func CheckAll(es []*Entity) []finding.Finding {
	var out []finding.Finding
	first := make(map[string]int, len(es))
	for i, e := range es {
		out = append(out, Check(e)...)
		key := e.Key()
		j, dup := first[key]
		if !dup {
			first[key] = i
			continue
		}
		c := checker{e: e}
		c.report(RuleDuplicate, "metadata.name",
			fmt.Sprintf("entity %d has the same reference as entity %d, %q", i+1, j+1, es[j].Metadata.Name),
			"give one of the two another name or namespace")
		out = append(out, c.out...)
	}
	return out
}

// checker collects the findings about one entity.
type checker struct {
	e   *Entity
	out []finding.Finding
}

func (c *checker) report(rule, path, message, hint string) {
	c.out = append(c.out, finding.Finding{
		Rule:     rule,
		Severity: severityOf(rule),
		Object:   c.e.Key(),
		Path:     path,
		Message:  message,
		Hint:     hint,
	})
}

func (c *checker) head() {
	e, m := c.e, &c.e.Metadata
	if !isAPIVersion(e.APIVersion) {
		c.report(RuleAPIVersion, "apiVersion",
			fmt.Sprintf("apiVersion %q is not a version with an optional group", e.APIVersion),
			"write it as "+words.EntityVersion)
	}
	if !isKind(e.Kind) {
		c.report(RuleKind, "kind",
			fmt.Sprintf("kind %q is not a kind", e.Kind),
			"use letters and digits only, beginning with a letter, at most 63")
	}
	if !isName(m.Name) {
		name, _ := Name(m.Name)
		c.report(RuleName, "metadata.name",
			fmt.Sprintf("name %q is not allowed", m.Name),
			"use letters and digits with - _ . between them, at most 63, such as "+name)
	}
	if m.Namespace != "" && !isNamespace(m.Namespace) {
		namespace, _ := Namespace(m.Namespace)
		c.report(RuleNamespace, "metadata.namespace",
			fmt.Sprintf("namespace %q is not allowed", m.Namespace),
			"use lower-case letters and digits with dashes between them, at most 63, such as "+namespace)
	}
}

// badKeys returns the sorted keys of the entries that are not ok. Usually there are
// none, and then it does not allocate.
func badKeys(m map[string]string, ok func(key, value string) bool) []string {
	var bad []string
	for k, v := range m {
		if !ok(k, v) {
			bad = append(bad, k)
		}
	}
	slices.Sort(bad)
	return bad
}

func isLabel(k, v string) bool      { return isKey(k) && isLabelValue(v) }
func isAnnotation(k, _ string) bool { return isKey(k) }
func isLabelValue(v string) bool    { return v == "" || isName(v) }

const keyHint = "use a name of at most 63 letters, digits and - _ . between them, with an optional domain and slash before it"

func (c *checker) labels() {
	labels := c.e.Metadata.Labels
	for _, k := range badKeys(labels, isLabel) {
		path := keyPath("metadata.labels", k)
		if !isKey(k) {
			c.report(RuleLabelKey, path, fmt.Sprintf("label key %q is not allowed", k), keyHint)
		}
		if v := labels[k]; !isLabelValue(v) {
			value, _ := LabelValue(v)
			c.report(RuleLabelValue, path,
				fmt.Sprintf("value %q of label %q is not allowed", v, k),
				"use letters and digits with - _ . between them, at most 63, such as "+value+", or an annotation")
		}
	}
}

func (c *checker) annotations() {
	annotations := c.e.Metadata.Annotations
	for _, k := range badKeys(annotations, isAnnotation) {
		c.report(RuleAnnotationKey, keyPath("metadata.annotations", k), fmt.Sprintf("annotation key %q is not allowed", k), keyHint)
	}
	for _, keys := range managedBy {
		key := keys[0]
		value, ok := annotations[key]
		if !ok {
			key = keys[1]
			value, ok = annotations[key]
		}
		if ok && isLocation(value) {
			continue
		}
		if !ok {
			c.report(RuleLocationMissing, "metadata.annotations",
				fmt.Sprintf("annotation %s is missing", keys[0]),
				"set it to where the entity comes from, such as url:https://example.com/catalog.yaml")
			continue
		}
		c.report(RuleLocationForm, keyPath("metadata.annotations", key),
			fmt.Sprintf("annotation %s is %q, not of the form type:target", key, value),
			"prefix it with the type, such as url:https://example.com/catalog.yaml")
	}
}

func (c *checker) tags() {
	for i, t := range c.e.Metadata.Tags {
		if isTag(t) {
			continue
		}
		hint := "remove it"
		if good, ok := Tag(t); ok {
			hint = "write it as " + good
		}
		c.report(RuleTag, itemPath("metadata.tags", i), fmt.Sprintf("tag %q is not allowed; the catalog rejects the whole entity for it", t), hint)
	}
}

// itemPath returns the path of a list entry.
func itemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// keyPath returns the path of a map entry whose key may contain dots.
func keyPath(path, key string) string { return path + "[" + strconv.Quote(key) + "]" }
