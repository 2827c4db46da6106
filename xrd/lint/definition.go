package lint

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// definition checks everything but the versions, and then the versions.
func (l *linter) definition(d *xrd.Definition, opts Options) {
	n := d.Node
	l.apiVersion(d)
	if n.IsMap() {
		l.knownFields(n, "definition", objectFields)
	}
	l.metadata(d, opts)
	spec := n.Field("spec")
	if spec == nil || spec.Value.IsNull() || spec.Value.IsMap() && spec.Value.Len() == 0 {
		l.report(RuleNoSpec, "spec", fieldPos(spec, n), "write group, names and versions under spec, and check the indentation", "the definition has no spec")
		return
	}
	if !spec.Value.IsMap() {
		return
	}
	l.push("spec")
	l.knownFields(spec.Value, "spec", specFields)
	l.group(spec)
	l.names(spec)
	l.scope(d, spec.Value)
	l.settings(spec.Value)
	l.versions(spec)
	l.pop()
}

// fieldPos returns the position of f or, if it is nil, of parent.
func fieldPos(f *tree.Field, parent *tree.Node) tree.Pos {
	if f != nil {
		return f.Pos
	}
	return parent.At()
}

func (l *linter) apiVersion(d *xrd.Definition) {
	pos := d.Node.Get("apiVersion").At()
	switch d.APIVersion {
	case words.DefinitionV1, words.DefinitionV2:
	case words.DefinitionV1beta1:
		l.report(RuleBetaVersion, "apiVersion", pos, "write "+d.Words.APIVersionOut(words.DefinitionV1),
			"apiVersion v1beta1 is no longer served by clusters")
	default:
		l.report(RuleAPIVersion, "apiVersion", pos,
			"write "+d.Words.APIVersionOut(words.DefinitionV2)+", or v1 where claims are needed",
			"apiVersion %q is not supported", d.Words.APIVersionOut(shorten(d.APIVersion)))
	}
}

func (l *linter) metadata(d *xrd.Definition, opts Options) {
	meta := d.Node.Field("metadata")
	l.push("metadata")
	defer l.pop()
	var m *tree.Node
	if meta != nil {
		m = meta.Value
	}
	l.name(d, m, fieldPos(meta, d.Node))
	l.bookkeeping(m)
	l.labels(d, m, "labels")
	l.labels(d, m, "annotations")
	for _, key := range opts.RequiredLabels {
		if d.Labels[key] == "true" {
			continue
		}
		own := d.Words.Out(words.Key, key)
		f := m.Get("labels").Field(own)
		if f == nil {
			f = m.Get("labels").Field(key)
		}
		switch {
		case f == nil:
			l.push("labels")
			l.report(RuleRequiredLabel, own, fieldPos(m.Field("labels"), m), "add the label "+own+`: "true"`,
				"label %s is missing, so the definition is skipped", own)
			l.pop()
		case f.Value.IsString():
			l.push("labels")
			l.report(RuleRequiredLabel, own, f.Value.At(), `write "true", in quotes`,
				"label %s is %q, so the definition is skipped", own, shorten(f.Value.Text))
			l.pop()
		}
	}
}

func (l *linter) name(d *xrd.Definition, meta *tree.Node, pos tree.Pos) {
	f := meta.Field("name")
	if f == nil || f.Value.IsNull() || f.Value.IsString() && f.Value.Text == "" {
		hint := "write <plural>.<group>"
		if d.Name != "" {
			hint = "write " + shorten(d.Name)
		}
		if f != nil {
			pos = f.Pos
		}
		l.report(RuleNoName, "name", pos, hint, "the definition has no name")
		return
	}
	if !f.Value.IsString() {
		l.wrongKind(f, tree.String)
		return
	}
	name := f.Value.Text
	plural, group := d.Names.Plural, d.Group
	if plural != "" && group != "" && name != plural+"."+group {
		l.report(RuleNameMismatch, "name", f.Value.At(), "write "+shorten(plural+"."+group)+", or change spec.names.plural or spec.group",
			"name %q is not <plural>.<group>, which is %q", shorten(name), shorten(plural+"."+group))
	}
	if len(name) > 63 {
		l.report(RuleLongName, "name", f.Value.At(), "choose a shorter group or plural if the name matters to readers",
			"name has %d characters; the catalog allows 63, so it is shortened there", len(name))
	}
}

// labels checks the entries of metadata.labels or metadata.annotations.
func (l *linter) labels(d *xrd.Definition, meta *tree.Node, which string) {
	all := meta.Field(which)
	if all == nil || all.Value.IsNull() {
		return
	}
	if !all.Value.IsMap() {
		l.wrongKind(all, tree.Map)
		return
	}
	one := strings.TrimSuffix(which, "s")
	l.push(which)
	defer l.pop()
	for i := range all.Value.Fields {
		f := &all.Value.Fields[i]
		v := f.Value
		switch {
		case v.IsNull():
		case !v.IsString() && v.Kind < tree.List:
			l.report(RuleLabelType, f.Key, v.At(), "quote it: \""+v.Text+"\"", "%s %s is %s, not a string, so Kubernetes rejects the definition",
				one, shorten(f.Key), v.Text)
		case !v.IsString():
			l.report(RuleLabelType, f.Key, v.At(), "write a string", "%s %s is %s, not a string, so Kubernetes rejects the definition",
				one, shorten(f.Key), kindNames[kindOf(v)])
		case v.Plain && isYAMLBoolean(v.Text):
			l.report(RuleLabelType, f.Key, v.At(), "quote it: \""+v.Text+"\"", "%s %s is unquoted %s, which Kubernetes reads as a boolean and rejects",
				one, shorten(f.Key), v.Text)
		case which == "labels" && !isLabelValue(v.Text):
			l.report(RuleLabelValue, f.Key, v.At(), "write at most 63 letters, digits, dashes, dots and underscores; text belongs in an annotation",
				"label %s has the value %q, which Kubernetes rejects", shorten(f.Key), shorten(v.Text))
		}
		l.key(f, one)
		l.ownWord(d, f, which)
	}
}

// bookkeeping checks the fields of metadata that clusters maintain, as far as people
// write them.
func (l *linter) bookkeeping(meta *tree.Node) {
	for _, key := range []string{"finalizers", "ownerReferences"} {
		if f := meta.Field(key); f != nil && !f.Value.IsNull() && !f.Value.IsList() {
			l.wrongKind(f, tree.List)
		}
	}
	l.push("finalizers")
	for i, v := range meta.Get("finalizers").List() {
		l.pushIndex(i)
		switch {
		case !v.IsString():
			l.report(RuleFieldType, "", v.At(), "put it in quotes", "finalizer is %s, but must be a string", kindNames[kindOf(v)])
		case !isQualifiedName(v.Text):
			l.report(RuleFieldValue, "", v.At(), "write a domain, a slash and a name", "finalizer %q is rejected by Kubernetes", shorten(v.Text))
		}
		l.pop()
	}
	l.pop()
	l.push("ownerReferences")
	defer l.pop()
	for i, v := range meta.Get("ownerReferences").List() {
		l.pushIndex(i)
		for _, key := range []string{"apiVersion", "kind", "name", "uid"} {
			if missing(v.Get(key)) {
				l.report(RuleFieldValue, key, v.At(), "write it, or remove the owner", "an owner has no %s", key)
			}
		}
		l.pop()
	}
}

// ownLabels and ownAnnotations are the keys on definitions that the programs of this
// project use.
var (
	ownLabels      = append(words.DefinitionLabels(), words.LabelClusterID)
	ownAnnotations = words.DefinitionAnnotations()
	// switches are the labels that count only if they are exactly "true".
	switches = []string{words.LabelIngest, words.LabelGenerateForm}
)

// ownWord reports a label or annotation that is nearly one of the project's.
func (l *linter) ownWord(d *xrd.Definition, f *tree.Field, which string) {
	key := words.In(words.Key, f.Key)
	here, there, other := ownLabels, ownAnnotations, "annotation"
	if which == "annotations" {
		here, there, other = ownAnnotations, ownLabels, "label"
	}
	switch {
	case slices.Contains(here, key):
		if slices.Contains(switches, key) && f.Value.IsString() && f.Value.Text != "true" && strings.EqualFold(f.Value.Text, "true") {
			l.report(RuleKnownWord, f.Key, f.Value.At(), `write "true"`, "label %s is %q, but has an effect only if it is exactly \"true\"", f.Key, f.Value.Text)
		}
	case key == words.LabelClusterID:
		// The key is both a label and an annotation.
	case slices.Contains(there, key):
		l.report(RuleKnownWord, f.Key, f.Pos, "move it to metadata."+other+"s", "%s is only read as %s", f.Key, article(other))
	default:
		prefix, _, ok := strings.Cut(key, "/")
		if !ok || !slices.Contains(prefixes, prefix) {
			return
		}
		if which == "annotations" && isForeign(key) {
			return
		}
		if near := l.nearest(key, here); near != "" {
			l.report(RuleKnownWord, f.Key, f.Pos, "did you mean "+d.Words.Out(words.Key, near)+"?", "%s is not known, so it has no effect", f.Key)
			return
		}
		if which == "annotations" {
			l.report(RuleUnknownWord, f.Key, f.Pos, "remove it, or leave it if another program reads it; the known ones are in docs/annotations.md",
				"%s is not known, so it has no effect here", shorten(f.Key))
		}
	}
}

func article(noun string) string {
	if strings.HasPrefix(noun, "a") {
		return "an " + noun
	}
	return "a " + noun
}

func (l *linter) group(spec *tree.Field) {
	f := spec.Value.Field("group")
	switch {
	case f == nil || f.Value.IsNull() || f.Value.IsString() && f.Value.Text == "":
		pos := spec.Pos
		if f != nil {
			pos = f.Pos
		}
		l.report(RuleNoGroup, "group", pos, "write a domain you own, such as platform.example.org", "the definition has no group")
	case f.Value.IsString() && !isDomain(f.Value.Text):
		l.report(RuleBadGroup, "group", f.Value.At(), "write lower-case words joined by dots, such as platform.example.org",
			"group %q is not a domain", shorten(f.Value.Text))
	}
}

func (l *linter) scope(d *xrd.Definition, spec *tree.Node) {
	f := spec.Field("scope")
	if f != nil && f.Value.IsString() {
		switch xrd.Scope(f.Value.Text) {
		case xrd.ScopeNamespaced, xrd.ScopeCluster:
		case xrd.ScopeLegacyCluster:
			// A cluster that stores a v1 definition also lists it as v2.
			if d.APIVersion == words.DefinitionV2 && d.Origin.Source != xrd.SourceCluster {
				l.report(RuleLegacyScope, "scope", f.Value.At(), "write "+d.Words.APIVersionOut(words.DefinitionV1)+", or another scope",
					"scope LegacyCluster is accepted in v1 only")
			}
		default:
			l.report(RuleScope, "scope", f.Value.At(), l.scopeHint(f.Value.Text), "scope %q is not a scope", shorten(f.Value.Text))
			return
		}
	}
	if d.Scope == xrd.ScopeLegacyCluster {
		return
	}
	if f := spec.Field("claimNames"); f != nil && !f.Value.IsNull() {
		l.report(RuleClaimScope, f.Key, f.Pos, "remove claimNames, or write "+d.Words.APIVersionOut(words.DefinitionV1)+" without a scope",
			"a definition with scope %s has no claims", shorten(string(d.Scope)))
	}
	if f := spec.Field("connectionSecretKeys"); f != nil && !f.Value.IsNull() {
		l.report(RuleSecretScope, f.Key, f.Pos, "remove connectionSecretKeys and compose a Secret instead",
			"a definition with scope %s has no connection secrets", shorten(string(d.Scope)))
	}
}

func (l *linter) scopeHint(s string) string {
	if near := l.nearest(s, []string{"Cluster", "Namespaced", "LegacyCluster"}); near != "" {
		return "write " + near
	}
	return "write Namespaced or Cluster"
}
