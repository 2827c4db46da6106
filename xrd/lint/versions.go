package lint

import (
	"slices"
	"strings"

	"example.dev/ingestor/tree"
)

// versions checks spec.versions and every entry of it.
func (l *linter) versions(spec *tree.Field) {
	f := spec.Value.Field("versions")
	if f == nil || f.Value.IsNull() || f.Value.IsList() && len(f.Value.Items) == 0 {
		l.report(RuleNoVersions, "versions", fieldPosOr(f, spec.Pos), "write at least one version with name, served, referenceable and schema",
			"the definition has no versions")
		return
	}
	if !f.Value.IsList() {
		return
	}
	l.push("versions")
	defer l.pop()
	named := make(map[string]int, len(f.Value.Items))
	var sum summary
	for i, v := range f.Value.Items {
		l.pushIndex(i)
		if v.IsMap() {
			l.version(v, i, named, &sum)
		} else {
			l.report(RuleFieldType, "", v.At(), "write a map with name, served, referenceable and schema",
				"a version is %s, but must be a map", kindNames[kindOf(v)])
		}
		l.pop()
	}
	l.totals(f.Pos, &sum)
}

// summary is what the versions say taken together.
type summary struct {
	versions      int
	served        int
	referenceable int
	// silent counts those that do not say whether they are referenceable.
	silent int
	second tree.Pos
}

func (l *linter) totals(pos tree.Pos, s *summary) {
	if s.versions == 0 {
		return
	}
	if s.served == 0 {
		l.report(RuleNoServed, "", pos, "write served: true on the version developers should use", "no version is served, so nothing can be created")
	}
	switch {
	case s.referenceable == 0 && s.silent == 0:
		l.report(RuleNoReferenceable, "", pos, "write referenceable: true on the version Compositions use", "no version is referenceable")
	case s.referenceable > 1:
		l.report(RuleManyReferenceable, "", s.second, "keep referenceable: true on the one version Compositions use",
			"%d versions are referenceable, but only one can be", s.referenceable)
	}
}

func (l *linter) version(v *tree.Node, index int, named map[string]int, sum *summary) {
	l.knownFields(v, "version", versionFields)
	label := l.versionName(v, index, named)
	l.flags(v, label, sum)
	l.deprecation(v)
	l.printerColumns(v)
	schema := v.Get("schema")
	if schema.IsMap() {
		l.push("schema")
		l.knownFields(schema, "version's schema", schemaFields)
		l.pop()
	}
	root := schema.Field("openAPIV3Schema")
	switch {
	case root != nil && root.Value.IsMap():
		l.pushAll("schema", "openAPIV3Schema")
		l.root(root, index == 0)
		l.popAll(2)
	case root != nil && !root.Value.IsNull(), v.Has("openAPIV3Schema"), schema != nil && !schema.IsNull() && !schema.IsMap():
		// Reported as a field of the wrong type or in the wrong place.
	default:
		l.report(RuleNoSchema, "schema", fieldPosOr(v.Field("schema"), v.At()), "write the schema under schema.openAPIV3Schema",
			"version %s has no schema", label)
	}
}

// versionName checks the name and returns what to call the version.
func (l *linter) versionName(v *tree.Node, index int, named map[string]int) string {
	name := v.Get("name")
	switch {
	case missing(name):
		l.report(RuleVersionName, "name", fieldPosOr(v.Field("name"), v.At()), "write a name such as v1alpha1", "a version has no name")
		return "without a name"
	case !name.IsString():
		return shorten(name.Scalar())
	case !isLabel(name.Text):
		l.report(RuleVersionName, "name", name.At(), "write a name such as v1, v1beta1 or v1alpha1", "version name %q is refused by Kubernetes", shorten(name.Text))
	}
	if first, twice := named[name.Text]; twice {
		l.report(RuleVersionTwice, "name", name.At(), "remove or rename one of the two", "version %s is given twice, first as entry %d", shorten(name.Text), first)
	} else {
		named[name.Text] = index
	}
	return shorten(name.Text)
}

func (l *linter) flags(v *tree.Node, label string, sum *summary) {
	sum.versions++
	served, referenceable := v.Get("served"), v.Get("referenceable")
	var silent []string
	if served.IsNull() {
		silent = append(silent, "served")
	}
	if referenceable.IsNull() {
		silent = append(silent, "referenceable")
		sum.silent++
	}
	if len(silent) > 0 {
		l.report(RuleVersionSilent, silent[0], v.At(), "write served: true and referenceable: true, or false where that is meant",
			"version %s does not say whether it is %s, which Kubernetes asks for", label, strings.Join(silent, " or "))
	}
	if served.IsNull() || served.IsTrue() {
		sum.served++
	} else if served.Kind == tree.Bool {
		l.report(RuleUnserved, "served", served.At(), "nothing to do if that is meant", "version %s is not served, so it gets no Template and no API", label)
	}
	if referenceable.IsTrue() {
		if sum.referenceable++; sum.referenceable == 2 {
			sum.second = referenceable.At()
		}
	}
}

func (l *linter) deprecation(v *tree.Node) {
	w := v.Get("deprecationWarning")
	if !w.IsString() {
		return
	}
	if !v.Get("deprecated").IsTrue() {
		l.report(RuleDeprecation, "deprecationWarning", w.At(), "write deprecated: true, or remove the warning", "deprecationWarning on a version that is not deprecated")
	}
	if len(w.Text) > 256 {
		l.report(RuleDeprecation, "deprecationWarning", w.At(), "shorten it", "deprecationWarning has %d characters; Kubernetes takes 256", len(w.Text))
	}
}

// columnTypes are the types of printer columns.
var columnTypes = []string{"boolean", "date", "integer", "number", "string"}

func (l *linter) printerColumns(v *tree.Node) {
	l.push("additionalPrinterColumns")
	defer l.pop()
	for i, c := range v.Get("additionalPrinterColumns").List() {
		l.pushIndex(i)
		for _, key := range []string{"name", "type", "jsonPath"} {
			if missing(c.Get(key)) {
				l.report(RulePrinterColumn, key, fieldPosOr(c.Field(key), c.At()), "write "+key, "a printer column has no %s", key)
			}
		}
		if t := c.Get("type"); t.IsString() && t.Text != "" && !slices.Contains(columnTypes, t.Text) {
			l.report(RulePrinterColumn, "type", t.At(), "write one of "+strings.Join(columnTypes, ", "), "%q is not a type of printer columns", shorten(t.Text))
		}
		l.pop()
	}
}
