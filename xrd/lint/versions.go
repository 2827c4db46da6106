package lint

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
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

// summary holds the totals of all versions.
type summary struct {
	versions      int
	served        int
	referenceable int
	// silent counts the versions that do not set referenceable.
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
	l.scale(v)
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
		before := l.errors
		l.root(root, index == 0)
		if l.errors == before {
			l.served(v)
		}
		l.popAll(2)
	case root != nil && !root.Value.IsNull(), v.Has("openAPIV3Schema"), schema != nil && !schema.IsNull() && !schema.IsMap():
		// Already reported as a field of the wrong type or in the wrong place.
	default:
		l.report(RuleNoSchema, "schema", fieldPosOr(v.Field("schema"), v.At()), "write the schema under schema.openAPIV3Schema",
			"version %s has no schema", label)
	}
}

// served reports what an API server rejects in the schema of a version that is otherwise
// valid; for an invalid schema its messages do not help.
func (l *linter) served(v *tree.Node) {
	i := slices.IndexFunc(l.about.Versions, func(o *xrd.Version) bool { return o.Node == v })
	if l.schemas == nil || i < 0 {
		return
	}
	version := l.about.Versions[i]
	for _, f := range l.schemas.Check(l.about, version) {
		n, pos, depth := version.Schema, version.Schema.At(), 0
		for _, key := range f.Path {
			if n.IsList() {
				index, err := strconv.Atoi(key)
				if err != nil || index >= len(n.Items) {
					break
				}
				l.pushIndex(index)
				depth++
				n, pos = n.Items[index], n.Items[index].At()
				continue
			}
			l.push(key)
			depth++
			field := n.Field(key)
			pos, n = fieldPosOr(field, pos), n.Get(key)
		}
		l.report(f.Rule, "", pos, f.Hint, "%s", f.Message)
		l.popAll(depth)
	}
}

// versionName checks the name and returns the version's label for messages.
func (l *linter) versionName(v *tree.Node, index int, named map[string]int) string {
	name := v.Get("name")
	switch {
	case missing(name):
		l.report(RuleVersionName, "name", fieldPosOr(v.Field("name"), v.At()), "write a name such as v1alpha1", "a version has no name")
		return "without a name"
	case !name.IsString():
		return shorten(name.Scalar())
	case !isLabel(name.Text):
		l.report(RuleVersionName, "name", name.At(), "write a name such as v1, v1beta1 or v1alpha1", "version name %q is rejected by Kubernetes", shorten(name.Text))
	}
	if first, twice := named[name.Text]; twice {
		l.report(RuleVersionTwice, "name", name.At(), "remove or rename one of the two", "duplicate version %s, first defined as entry %d", shorten(name.Text), first)
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
		l.report(RuleVersionSilent, silent[0], v.At(), "set served and referenceable to true or false",
			"version %s does not set %s, which Kubernetes requires", label, strings.Join(silent, " or "))
	}
	if served.IsNull() || served.IsTrue() {
		sum.served++
	} else if served.Kind == tree.Bool {
		l.report(RuleUnserved, "served", served.At(), "ignore this if it is intended", "version %s is not served, so it gets no Template and no API", label)
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
	if w.Text == "" || strings.ContainsFunc(w.Text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		l.report(RuleDeprecation, "deprecationWarning", w.At(), "write one line of text, or remove the warning", "deprecationWarning is empty or has non-printable characters")
	}
	if len(w.Text) > 256 {
		l.report(RuleDeprecation, "deprecationWarning", w.At(), "shorten it", "deprecationWarning has %d characters; Kubernetes allows 256", len(w.Text))
	}
}

// columnTypes and columnFormats are the types and formats of printer columns.
var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

var columnFields = fields{
	"name": tree.String, "type": tree.String, "jsonPath": tree.String, "description": tree.String, "format": tree.String, "priority": tree.Int,
}

func (l *linter) printerColumns(v *tree.Node) {
	l.push("additionalPrinterColumns")
	defer l.pop()
	for i, c := range v.Get("additionalPrinterColumns").List() {
		l.pushIndex(i)
		l.printerColumn(c)
		l.pop()
	}
}

func (l *linter) printerColumn(c *tree.Node) {
	if c.IsMap() {
		l.knownFields(c, "printer column", columnFields)
	}
	for _, key := range []string{"name", "type", "jsonPath"} {
		if missing(c.Get(key)) {
			l.report(RulePrinterColumn, key, fieldPosOr(c.Field(key), c.At()), "write "+key, "a printer column has no %s", key)
		}
	}
	if t := c.Get("type"); t.IsString() && t.Text != "" && !slices.Contains(columnTypes, t.Text) {
		l.report(RulePrinterColumn, "type", t.At(), "write one of "+strings.Join(columnTypes, ", "), "%q is not a printer column type", shorten(t.Text))
	}
	if f := c.Get("format"); f.IsString() && f.Text != "" && !slices.Contains(columnFormats, f.Text) {
		l.report(RulePrinterColumn, "format", f.At(), "write one of "+strings.Join(columnFormats, ", "), "%q is not a printer column format", shorten(f.Text))
	}
	if p := c.Get("jsonPath"); p.IsString() && p.Text != "" && p.Text[0] != '.' {
		l.report(RulePrinterColumn, "jsonPath", p.At(), "write a path that begins with a dot, such as .spec.size", "jsonPath %q does not begin with a dot", shorten(p.Text))
	}
	if p := c.Get("priority"); kindOf(p) == tree.Int {
		if _, err := strconv.ParseInt(p.Text, 0, 32); err != nil {
			l.report(RulePrinterColumn, "priority", p.At(), "write a small number", "priority %s is too large", shorten(p.Text))
		}
	}
}
