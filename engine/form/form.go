// Package form compiles the schema of a definition into the form that a developer fills
// in, and the manifest that the form produces.
//
// A form is a list of pages, each a JSON Schema with UI hints. Parameters are flat on a
// page; the manifest refers to each of them in an expression, and an expression whose
// parameter is empty is omitted.
//
// It is one package because the schema is walked once, and every file adds its share to
// the fields that this walk makes.
package form

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The rules for forms.
const (
	// RulePattern is a pattern that no browser can run.
	RulePattern = "FORM001"
	// RuleNoSpec is a schema without properties to make fields from.
	RuleNoSpec = "FORM002"
	// RuleDeep is a schema too deep or too large to show in full.
	RuleDeep = "FORM003"
	// RuleRenamed is a field whose name conflicts with one of the form's own.
	RuleRenamed = "FORM004"
	// RuleOpen is a spec that accepts undeclared fields.
	RuleOpen = "FORM005"
	// RuleMachinery is a required field that Crossplane sets.
	RuleMachinery = "FORM006"
	// RuleMisread is a text that Kubernetes misreads in a file that Backstage writes.
	RuleMisread = "FORM007"
)

// Rules are all rules for forms.
var Rules = []finding.Rule{
	{ID: RulePattern, Severity: finding.Warning, Title: "pattern cannot run in a browser", Why: "The form can only describe it; the cluster still checks it."},
	{ID: RuleNoSpec, Severity: finding.Info, Title: "spec declares no fields", Why: "The form has a single YAML field instead."},
	{ID: RuleDeep, Severity: finding.Info, Title: "schema too deep or too large", Why: "Its deepest parts are YAML text in the form."},
	{ID: RuleRenamed, Severity: finding.Info, Title: "field name conflicts with a field of the form", Why: "It is named spec_<field> in the form and keeps its name in the manifest."},
	{ID: RuleOpen, Severity: finding.Info, Title: "spec accepts undeclared fields", Why: "The form has a YAML field for those."},
	{ID: RuleMachinery, Severity: finding.Warning, Title: "required field is set by Crossplane", Why: "The form has no field for it, so the cluster rejects the object. Do not require it."},
	{ID: RuleMisread, Severity: finding.Warning, Title: "text is misread in a file of Backstage", Why: "With delivery: backstage, Backstage writes texts such as N, off and 8_0 without quotes. Kubernetes reads them as booleans and numbers, and rejects the object."},
}

// Options are the inputs of a form besides the definition.
type Options struct {
	// Namespace is the default namespace of the resource.
	Namespace string
	// CompositionDetails adds the page with the Crossplane settings: the Composition, its
	// revision, the connection secret and the policies.
	CompositionDetails bool
	// Compositions are the names to select from; without any, the form accepts any name.
	Compositions []string
	// GitOps adds the delivery page, with Repository (a URL) and Path as defaults.
	GitOps           bool
	Repository, Path string
	// Clusters are the names to select from. With fewer than two the question is omitted.
	Clusters []string
	// Stock, if set, makes a form for a Backstage that has no fields but its own, with a
	// page for a repository at this Git provider instead of the delivery page.
	Stock GitProvider
}

// Form is a compiled form.
type Form struct {
	// Pages is the list of pages: spec.parameters of a Template.
	Pages *tree.Node
	// Manifest is the resource, with expressions in place of the form's values.
	Manifest *tree.Node
	// Bindings map parameters to parts of the manifest's spec.
	Bindings []Binding
	// Fixed is true if nothing in the spec can be changed after creation.
	Fixed    bool
	Findings []finding.Finding
}

// Binding binds a parameter to a path in the manifest.
type Binding struct {
	Param string
	// Path is the path below spec; empty means the whole of spec.
	Path []string
}

// The form's own parameters. A field of the definition with one of these names is
// renamed, whether or not its page is in this form, so that a name does not depend on
// the configuration.
const (
	paramName             = "name"
	paramNamespace        = "namespace"
	paramOwner            = "owner"
	paramSpec             = "spec"
	paramComposition      = "composition"
	paramSelector         = "compositionSelector"
	paramRevision         = "compositionRevision"
	paramRevisionSelector = "compositionRevisionSelector"
	paramUpdatePolicy     = "compositionUpdatePolicy"
	paramDeletePolicy     = "compositeDeletePolicy"
	paramSecret           = "connectionSecret"
	paramSecretNamespace  = "connectionSecretNamespace"
	ParamDelivery         = "delivery"
	ParamGitHost          = "gitHost"
	ParamGitRepository    = "gitRepository"
	ParamGitPath          = "gitPath"
	ParamGitBranch        = "gitBranch"
	ParamCluster          = "deliveryCluster"
	ParamObserved         = "observed"
)

var ownParams = []string{
	paramName, paramNamespace, paramOwner, paramSpec, paramComposition, paramSelector, paramRevision, paramRevisionSelector,
	paramUpdatePolicy, paramDeletePolicy, paramSecret, paramSecretNamespace,
	ParamDelivery, ParamGitHost, ParamGitRepository, ParamGitPath, ParamGitBranch, ParamCluster,
	ParamObserved,
}

type compiler struct {
	def      *xrd.Definition
	version  *xrd.Version
	target   xrd.Target
	opts     Options
	maxDepth int
	path     []string
	make     tree.Maker
	// untouched counts the enclosing objects that must stay absent until the user fills
	// them in.
	untouched int
	// large is true if the page has more fields than it shows at once; room is how many
	// more it may show.
	large bool
	room  int
	deep  []string
	out   *Form
}

// Compile compiles the form for one version of a definition.
func Compile(d *xrd.Definition, v *xrd.Version, opts Options) *Form {
	c := &compiler{def: d, version: v, target: d.Target(), opts: opts, maxDepth: maxDepth, out: &Form{}}
	pages := tree.Arr(c.metadataPage())
	page, spec := c.specPage()
	if page != nil {
		pages.Items = append(pages.Items, page)
	}
	if page := c.crossplanePage(spec); page != nil {
		pages.Items = append(pages.Items, page)
	}
	switch {
	case opts.Stock != "":
		pages.Items = append(pages.Items, c.repositoryPage())
		c.misread(pages)
		spec = givenIn(spec, givenValues(pages))
		pages = stock{}.pages(pages)
	case opts.GitOps:
		pages.Items = append(pages.Items, c.deliveryPage())
	}
	c.out.Pages = pages
	c.out.Manifest = c.manifest(spec)
	c.reportDeep()
	return c.out
}

// note adds a finding about this version.
func (c *compiler) note(rule string, pos tree.Pos, message, hint string) {
	if len(c.out.Findings) >= maxFindings {
		return
	}
	i := slices.IndexFunc(Rules, func(r finding.Rule) bool { return r.ID == rule })
	c.out.Findings = append(c.out.Findings, finding.Finding{
		Rule: rule, Severity: Rules[i].Severity, Object: c.def.Label(), File: c.def.Origin.File, Pos: pos,
		Path: c.where(), Message: message, Hint: hint,
	})
}

// where returns the current path of the compiler.
func (c *compiler) where() string {
	return strings.ReplaceAll(strings.Join(append([]string{c.version.Name + ": spec"}, c.path...), "."), ".[]", "[]")
}

// LabelPattern is the pattern of names and namespaces: a DNS label.
const LabelPattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"

// NamePattern is the pattern of object names: DNS labels separated by dots.
const NamePattern = "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$"

// Values that all forms share.
var (
	yes          = tree.Boolean(true)
	labelLength  = tree.Number(63)
	labelPattern = tree.Str(LabelPattern)
	namePattern  = tree.Str(NamePattern)
	ownerPicker  = tree.Str("OwnerPicker")
	ownerOptions = tree.Obj(tree.F("catalogFilter", tree.Obj(tree.F("kind", tree.Strs([]string{"Group", "User"})))))
)

func (c *compiler) metadataPage() *tree.Node {
	required := []string{paramName}
	props := tree.Obj(tree.F(paramName, tree.Obj(
		tree.F("title", tree.Str("Name")),
		tree.F("description", tree.Str("Name of the "+c.target.Kind)),
		tree.F("type", typeNodes["string"]),
		tree.F("maxLength", labelLength),
		tree.F("pattern", labelPattern),
		tree.F("ui:autofocus", yes),
	)))
	if c.target.Namespaced {
		required = append(required, paramNamespace)
		add(props, paramNamespace, tree.Obj(
			tree.F("title", tree.Str("Namespace")),
			tree.F("description", tree.Str("Namespace the "+c.target.Kind+" is created in")),
			tree.F("type", typeNodes["string"]),
			tree.F("default", tree.OptStr(c.opts.Namespace)),
			tree.F("maxLength", labelLength),
			tree.F("pattern", labelPattern),
		))
	}
	if len(c.opts.Clusters) > 1 {
		required = append(required, ParamCluster)
		add(props, ParamCluster, tree.Obj(
			tree.F("title", tree.Str("Cluster")),
			tree.F("description", tree.Str("Cluster the "+c.target.Kind+" is created in")),
			tree.F("type", typeNodes["string"]),
			tree.F("enum", tree.Strs(c.opts.Clusters)),
		))
	}
	add(props, paramOwner, tree.Obj(
		tree.F("title", tree.Str("Owner")),
		tree.F("description", tree.Str("Owner of the "+c.target.Kind)),
		tree.F("type", typeNodes["string"]),
		tree.F("ui:field", ownerPicker),
		tree.F("ui:options", ownerOptions),
	))
	return tree.Obj(
		tree.F("title", tree.Str("Metadata")),
		tree.F("required", tree.Strs(required)),
		tree.F("properties", props),
	)
}

// injected reports whether Crossplane, not the developer, sets a field of spec.
func (c *compiler) injected(key string) bool { return Injected(c.def, key) }

// Injected reports whether Crossplane sets a field of spec.
func Injected(d *xrd.Definition, key string) bool {
	if d.Modern() {
		return key == xrd.MachineryV2
	}
	return slices.Contains(xrd.MachineryV1, key)
}

// manifest assembles the resource.
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
