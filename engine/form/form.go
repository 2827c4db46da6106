// Package form compiles the schema of a definition into the form a developer
// fills, and the manifest the filled form makes.
//
// A form is a list of pages, each a JSON Schema with hints for the person's
// side. Parameters are flat on a page; the manifest names each of them in an
// expression, and an expression whose parameter was left empty disappears.
package form

import (
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The rules about forms.
const (
	// RulePattern is a pattern no browser can run.
	RulePattern = "FORM001"
	// RuleNoSpec is a schema without anything to make fields of.
	RuleNoSpec = "FORM002"
	// RuleDeep is a schema too deep or too large to show in full.
	RuleDeep = "FORM003"
	// RuleHidden is a required field that is hidden and has no default.
	RuleHidden = "FORM004"
	// RuleRequired is a required field that is not there to be filled.
	RuleRequired = "FORM005"
	// RuleRenamed is a field whose name is one of the form's own.
	RuleRenamed = "FORM006"
	// RuleOpen is a spec that takes more fields than it declares.
	RuleOpen = "FORM007"
)

// Rules are all rules about forms.
var Rules = []finding.Rule{
	{ID: RulePattern, Severity: finding.Warning, Title: "pattern cannot be run by a browser", Why: "The form can only describe it; the cluster still checks it."},
	{ID: RuleNoSpec, Severity: finding.Warning, Title: "nothing to make fields of", Why: "The form has one field for YAML text instead."},
	{ID: RuleDeep, Severity: finding.Info, Title: "schema too deep or too large", Why: "Its deepest parts are YAML text in the form."},
	{ID: RuleHidden, Severity: finding.Warning, Title: "required field is hidden and has no default", Why: "The form could never be submitted."},
	{ID: RuleRequired, Severity: finding.Warning, Title: "required field is not in the form", Why: "Nobody could fill it; the cluster would refuse the resource."},
	{ID: RuleRenamed, Severity: finding.Info, Title: "field has the name of one of the form's own", Why: "It is called spec_<field> in the form and has its own name in the manifest."},
	{ID: RuleOpen, Severity: finding.Info, Title: "spec takes undeclared fields", Why: "The form shows the declared ones only."},
}

// Options are what the form depends on besides the definition.
type Options struct {
	// Namespace is proposed for the resource.
	Namespace string
	// Compositions are the names to choose from; fewer than two leave the
	// page out.
	Compositions []string
	// GitOps adds the page about delivery, with Repository (a URL) and Path
	// proposed on it.
	GitOps           bool
	Repository, Path string
}

// Form is a compiled form.
type Form struct {
	// Pages is the list of pages: spec.parameters of a Template.
	Pages *tree.Node
	// Manifest is the resource, with expressions where the form's values go.
	Manifest *tree.Node
	// Bindings tell which parameter makes which part of the manifest's spec.
	Bindings []Binding
	Findings []finding.Finding
}

// Binding ties a parameter to a place in the manifest.
type Binding struct {
	Param string
	// Path is the place, below spec; empty means the whole of spec.
	Path []string
}

// The names of the form's own parameters. A field of the definition with one
// of these names is renamed, whether or not its page is in this form, so that
// a name does not depend on the configuration.
const (
	paramName            = "name"
	paramNamespace       = "namespace"
	paramOwner           = "owner"
	paramSpec            = "spec"
	paramComposition     = "composition"
	paramUpdatePolicy    = "compositionUpdatePolicy"
	paramDeletePolicy    = "compositeDeletePolicy"
	paramSecret          = "connectionSecret"
	paramSecretNamespace = "connectionSecretNamespace"
	ParamDelivery        = "delivery"
	ParamGitHost         = "gitHost"
	ParamGitRepository   = "gitRepository"
	ParamGitPath         = "gitPath"
	ParamGitBranch       = "gitBranch"
)

var ownParams = []string{
	paramName, paramNamespace, paramOwner, paramSpec, paramComposition, paramUpdatePolicy, paramDeletePolicy, paramSecret, paramSecretNamespace,
	ParamDelivery, ParamGitHost, ParamGitRepository, ParamGitPath, ParamGitBranch,
}

type compiler struct {
	def      *xrd.Definition
	version  *xrd.Version
	target   xrd.Target
	opts     Options
	maxDepth int
	path     []string
	deep     []string
	out      *Form
}

// Compile compiles the form for one version of a definition.
func Compile(d *xrd.Definition, v *xrd.Version, opts Options) *Form {
	c := &compiler{def: d, version: v, target: d.Target(), opts: opts, maxDepth: maxDepth, out: &Form{}}
	pages := tree.Arr(c.metadataPage())
	page, spec := c.specPage()
	if page != nil {
		pages.Items = append(pages.Items, page)
	}
	if page := c.compositionPage(spec); page != nil {
		pages.Items = append(pages.Items, page)
	}
	if opts.GitOps {
		pages.Items = append(pages.Items, c.deliveryPage())
	}
	c.out.Pages = pages
	c.out.Manifest = c.manifest(spec)
	c.reportDeep()
	return c.out
}

// note adds a finding about this version.
func (c *compiler) note(rule string, pos tree.Pos, message, hint string) {
	i := slices.IndexFunc(Rules, func(r finding.Rule) bool { return r.ID == rule })
	c.out.Findings = append(c.out.Findings, finding.Finding{
		Rule: rule, Severity: Rules[i].Severity, Object: c.def.Name, File: c.def.Origin.File, Pos: pos,
		Path: c.where(), Message: message, Hint: hint,
	})
}

// where names the place the compiler is at.
func (c *compiler) where() string {
	return strings.ReplaceAll(strings.Join(append([]string{c.version.Name + ": spec"}, c.path...), "."), ".[]", "[]")
}

func (c *compiler) reportDeep() {
	if len(c.deep) == 0 {
		return
	}
	c.note(RuleDeep, c.version.Spec().At(),
		strconv.Itoa(len(c.deep))+" parts of the schema are too deep or too many for a form and become YAML text, the first at "+c.deep[0],
		"flatten the schema if developers are to fill these parts")
}

func (c *compiler) metadataPage() *tree.Node {
	required := []string{paramName}
	props := tree.Obj(tree.F(paramName, tree.Obj(
		tree.F("title", tree.Str("Name")),
		tree.F("description", tree.Str("Name of the "+c.target.Kind)),
		tree.F("type", typeNodes["string"]),
		tree.F("maxLength", tree.Number(63)),
		tree.F("pattern", tree.Str("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")),
		tree.F("ui:autofocus", tree.Boolean(true)),
	)))
	if c.target.Namespaced {
		required = append(required, paramNamespace)
		add(props, paramNamespace, tree.Obj(
			tree.F("title", tree.Str("Namespace")),
			tree.F("description", tree.Str("Namespace the "+c.target.Kind+" is created in")),
			tree.F("type", typeNodes["string"]),
			tree.F("default", tree.OptStr(c.opts.Namespace)),
			tree.F("maxLength", tree.Number(63)),
			tree.F("pattern", tree.Str("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")),
		))
	}
	add(props, paramOwner, tree.Obj(
		tree.F("title", tree.Str("Owner")),
		tree.F("description", tree.Str("Owner of the "+c.target.Kind)),
		tree.F("type", typeNodes["string"]),
		tree.F("ui:field", tree.Str("OwnerPicker")),
		tree.F("ui:options", tree.Obj(tree.F("catalogFilter", tree.Obj(tree.F("kind", tree.Strs([]string{"Group", "User"})))))),
	))
	return tree.Obj(
		tree.F("title", tree.Str("Metadata")),
		tree.F("required", tree.Strs(required)),
		tree.F("properties", props),
	)
}

// specPage compiles the fields of spec. It returns the page, nil if there is
// nothing to ask, and the manifest's spec.
func (c *compiler) specPage() (page, manifest *tree.Node) {
	spec := c.version.Spec()
	page = tree.Obj(tree.F("title", tree.Str(c.target.Kind)))
	if spec == nil || spec.Get("properties").Len() == 0 {
		return c.openSpec(page, spec)
	}
	c.settleDepth(spec)
	fields := c.fields(spec, c.injected)
	if spec.Get("x-kubernetes-preserve-unknown-fields").IsTrue() {
		c.note(RuleOpen, spec.Pos, "spec takes fields it does not declare; the form shows the declared ones only", "declare what developers are to fill")
	}
	if len(fields) == 0 {
		c.state(page, spec)
		if !page.Has("description") {
			return nil, tree.Obj()
		}
		add(page, "properties", tree.Obj())
		return page, tree.Obj()
	}
	manifest = tree.Obj()
	inner, prefix, holder := manifest, []string(nil), spec
	if wrapper := loneWrapper(fields); wrapper != nil {
		holder = wrapper.schema
		c.checkRequired(spec, fields)
		c.path = append(c.path, wrapper.key)
		fields = c.fields(holder, nil)
		inner, prefix = tree.Obj(), []string{wrapper.key}
		add(manifest, wrapper.key, inner)
	}
	c.checkRequired(holder, fields)
	c.rename(fields)
	c.state(page, holder)
	c.properties(page, holder, fields, len(prefix))
	for _, f := range sortedByKey(fields) {
		add(inner, f.key, tree.Str(expression(f.param)))
		c.out.Bindings = append(c.out.Bindings, Binding{Param: f.param, Path: append(slices.Clone(prefix), f.key)})
	}
	c.path = nil
	return page, manifest
}

// openSpec is the page for a schema that declares no fields: YAML text.
func (c *compiler) openSpec(page, spec *tree.Node) (*tree.Node, *tree.Node) {
	if spec != nil && spec.Get("additionalProperties").Len() == 0 && !spec.Get("x-kubernetes-preserve-unknown-fields").IsTrue() &&
		!c.version.Schema.Get("x-kubernetes-preserve-unknown-fields").IsTrue() && spec.Has("properties") {
		// The author declared that there is nothing to fill.
		return nil, tree.Obj()
	}
	at := c.version.Node.At()
	if spec != nil {
		at = spec.Pos
	}
	c.note(RuleNoSpec, at, "the schema of version "+c.version.Name+" declares no fields of spec, so the form has one field for YAML text",
		"declare the fields under schema.openAPIV3Schema.properties.spec.properties")
	field := tree.Obj(
		tree.F("title", tree.Str("Spec")),
		tree.F("description", tree.Str("The spec of the "+c.target.Kind+", as YAML")),
		tree.F("type", typeNodes["object"]),
		tree.F("additionalProperties", tree.Boolean(true)),
		tree.F("ui:field", tree.Str(FieldYAML)),
	)
	c.state(page, spec)
	add(page, "properties", tree.Obj(tree.F(paramSpec, field)))
	c.out.Bindings = append(c.out.Bindings, Binding{Param: paramSpec})
	return page, tree.Str(expression(paramSpec))
}

// state writes the page's description: what spec is, what its validation
// rules say, and a Composition that is enforced.
func (c *compiler) state(page, schema *tree.Node) {
	var lines []string
	if first, _ := FirstSentence(schema.Get("description").Str()); first != "" {
		lines = append(lines, first)
	}
	if help, _ := validations(orEmpty(schema.Get("x-kubernetes-validations"))); help != "" {
		lines = append(lines, help)
	}
	if c.def.EnforcedComposition != "" {
		lines = append(lines, "Made by the Composition "+c.def.EnforcedComposition+".")
	}
	if len(lines) > 0 {
		add(page, "description", tree.Str(strings.Join(lines, "\n")))
	}
}

func orEmpty(n *tree.Node) *tree.Node {
	if n == nil {
		return tree.Arr()
	}
	return n
}

// settleDepth finds how deep the form may go without having more properties
// than it can show.
func (c *compiler) settleDepth(spec *tree.Node) {
	var counts [maxDepth + 1]int
	countProperties(spec, 0, &counts)
	total := 0
	for depth, n := range counts {
		if total += n; total > maxProperties {
			c.maxDepth = max(depth, 1)
			return
		}
	}
}

// countProperties counts the properties at each depth.
func countProperties(s *tree.Node, depth int, counts *[maxDepth + 1]int) {
	if !s.IsMap() || depth > maxDepth {
		return
	}
	for i := range s.Fields {
		switch f := &s.Fields[i]; f.Key {
		case "properties":
			counts[depth] += len(f.Value.Fields)
			for j := range f.Value.Fields {
				countProperties(f.Value.Fields[j].Value, depth+1, counts)
			}
		case "items", "additionalProperties":
			countProperties(f.Value, depth+1, counts)
		}
	}
}

// injected reports whether the machinery, not the developer, fills a field of
// spec.
func (c *compiler) injected(key string) bool { return Injected(c.def, key) }

// Injected reports whether the machinery fills the field of spec.
func Injected(d *xrd.Definition, key string) bool {
	if d.Modern() {
		return key == "crossplane"
	}
	switch key {
	case "compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector",
		"compositionUpdatePolicy", "compositeDeletePolicy", "claimRef", "resourceRef", "resourceRefs",
		"environmentConfigRefs", "publishConnectionDetailsTo", "writeConnectionSecretToRef":
		return true
	}
	return false
}

// loneWrapper returns the one field of spec if it is nothing but a wrapper
// around the real ones.
func loneWrapper(fields []field) *field {
	if len(fields) != 1 {
		return nil
	}
	f := &fields[0]
	s := f.schema
	if typeOf(s) != "object" || s.Get("properties").Len() == 0 || s.Get("nullable").IsTrue() ||
		s.Get("x-kubernetes-preserve-unknown-fields").IsTrue() || s.Has("x-ui-field") || s.Get("x-ui-hidden").IsTrue() {
		return nil
	}
	return f
}

// checkRequired reports required fields that nobody can fill.
func (c *compiler) checkRequired(s *tree.Node, fields []field) {
	for _, r := range s.Get("required").List() {
		if r.Kind != tree.String || slices.ContainsFunc(fields, func(f field) bool { return f.key == r.Text }) {
			continue
		}
		c.note(RuleRequired, r.Pos, "field "+strconv.Quote(r.Text)+" is required but is not in the form", "declare it under properties, or do not require it")
	}
}

// rename gives parameters their names in the form.
func (c *compiler) rename(fields []field) {
	taken := map[string]bool{}
	for i := range fields {
		taken[fields[i].key] = true
	}
	for i := range fields {
		f := &fields[i]
		for slices.Contains(ownParams, f.param) || f.param != f.key && taken[f.param] {
			f.param = "spec_" + f.param
		}
		if f.param == f.key {
			continue
		}
		taken[f.param] = true
		c.note(RuleRenamed, f.schema.Pos, "field "+strconv.Quote(f.key)+" is called "+strconv.Quote(f.param)+" in the form, because the form has a field of that name itself", "")
	}
}

// sortedByKey returns fields in the order the manifest has them, which is
// the one a cluster would show.
func sortedByKey(fields []field) []field {
	out := slices.Clone(fields)
	slices.SortFunc(out, func(a, b field) int { return strings.Compare(a.key, b.key) })
	return out
}

// manifest makes the resource of its parts.
func (c *compiler) manifest(spec *tree.Node) *tree.Node {
	meta := tree.Obj(tree.F("name", tree.Str(expression(paramName))))
	if c.target.Namespaced {
		add(meta, "namespace", tree.Str(expression(paramNamespace)))
	}
	add(meta, "annotations", tree.Obj(tree.F(words.AnnotationOwner, tree.Str(expression(paramOwner)))))
	return tree.Obj(
		tree.F("apiVersion", tree.Str(c.def.Group+"/"+c.version.Name)),
		tree.F("kind", tree.Str(c.target.Kind)),
		tree.F("metadata", meta),
		tree.F("spec", spec),
	)
}
