package form

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// GitProvider is a kind of Git server for which Backstage has an action that opens a
// change request.
type GitProvider string

// The Git providers.
const (
	GitHub          GitProvider = "github"
	GitLab          GitProvider = "gitlab"
	BitbucketServer GitProvider = "bitbucketServer"
	BitbucketCloud  GitProvider = "bitbucketCloud"
)

// repositoryPage asks for the repository that a change request is opened in. Its picker
// is one of Backstage's own.
func (c *compiler) repositoryPage() *tree.Node {
	repository := tree.Obj(
		tree.F("title", tree.Str("Repository")),
		tree.F("description", tree.Str("Repository the "+c.target.Kind+" is proposed to")),
		tree.F("type", typeNodes["string"]),
		tree.F("ui:field", tree.Str("RepoUrlPicker")),
	)
	if host, name := SplitRepository(c.opts.Repository); host != "" {
		add(repository, "default", tree.Str(repoURL(c.opts.Stock, host, name)))
		add(repository, "ui:options", tree.Obj(tree.F("allowedHosts", tree.Strs([]string{host}))))
	}
	path := strings.Trim(c.opts.Path, "/")
	if path == "" {
		path = "."
	}
	folder := requiredText("Path", "Folder in the repository; a dot means its root", path)
	add(folder, "pattern", tree.Str("^[^/]"))
	return tree.Obj(
		tree.F("title", tree.Str("Repository")),
		tree.F("required", tree.Strs([]string{ParamGitRepository, ParamGitPath, ParamGitBranch})),
		tree.F("properties", tree.Obj(
			tree.F(ParamGitRepository, repository),
			tree.F(ParamGitPath, folder),
			tree.F(ParamGitBranch, requiredText("Branch", "Branch the change is proposed for", "main")),
		)),
	)
}

// repoURL returns a repository as RepoUrlPicker writes it.
func repoURL(provider GitProvider, host, name string) string {
	owner, repo := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		owner, repo = name[:i], name[i+1:]
	}
	key := "owner"
	switch provider {
	case GitHub, GitLab:
	case BitbucketServer:
		key = "project"
	case BitbucketCloud:
		key = "workspace"
	}
	return host + "?" + key + "=" + url.QueryEscape(owner) + "&repo=" + url.QueryEscape(repo)
}

// ForBackstage returns the spec of a Template of ours with a form that the pages of
// Backstage can show and submit: with complete descriptions, and optional objects that
// require nothing until the user fills in a part of them. The steps leave out what
// Backstage adds to an untouched form. An update keeps that: there, an empty list removes
// items.
func ForBackstage(spec *tree.Node) *tree.Node {
	pages := spec.Get("parameters")
	if !pages.IsList() {
		return spec
	}
	out, steps := without(spec), spec.Get("steps")
	if !slices.ContainsFunc(pages.Items, func(p *tree.Node) bool { return p.Get("properties").Has(ParamObserved) }) {
		steps = givenIn(steps, givenValues(pages))
	}
	out.Set("parameters", stock{yaml: true}.pages(pages))
	out.Set("steps", steps)
	return out
}

// stock rewrites forms for the pages of Backstage.
type stock struct {
	// yaml is true if Backstage has the fields of ours: those for YAML and live choices.
	yaml bool
}

func (k stock) pages(pages *tree.Node) *tree.Node {
	out := tree.Arr()
	for _, p := range pages.Items {
		out.Items = append(out.Items, k.schema(p, true))
	}
	return out
}

// schema rewrites a page, or a schema in it: descriptions are complete, a YAML field is
// an editor of keys and values if Backstage lacks it, and an optional object requires
// nothing until the user fills in a part of it. needed is false for an object that may
// stay absent.
func (k stock) schema(s *tree.Node, needed bool) *tree.Node {
	if !s.IsMap() {
		return s
	}
	out := k.parts(s, needed)
	if !needed && out.Has("properties") {
		relax(out)
	}
	if least := out.Get("minItems"); !needed && least != nil {
		// A browser would add that many items to an untouched list.
		out.Delete("minItems")
		describe(out, "At least "+least.Text+", if any.")
	}
	return out
}

// parts rewrites the parts of a schema.
func (k stock) parts(s *tree.Node, needed bool) *tree.Node {
	if s.Get("ui:field").Str() == FieldYAML && !k.yaml {
		s = openEditor(s)
	}
	if s.Get("ui:field").Str() == FieldChoices && !k.yaml {
		s = textField(s)
	}
	required := members(s.Get("required"))
	out := tree.Obj()
	for _, f := range s.Fields {
		switch f.Key {
		case "properties":
			props := tree.Obj()
			for _, p := range f.Value.Fields {
				add(props, p.Key, k.schema(p.Value, needed && required.has(p.Key)))
			}
			add(out, f.Key, props)
		case "items", "additionalProperties":
			// The user adds these, and they are needed then.
			inner := k.schema(f.Value, true)
			if inner.IsTrue() && s.Has("properties") {
				// Backstage would accept only texts.
				inner = openValue(openDepth)
			}
			add(out, f.Key, inner)
		case "oneOf", "anyOf", "allOf":
			branches := tree.Arr()
			for _, b := range f.Value.List() {
				branches.Items = append(branches.Items, k.parts(b, needed))
			}
			add(out, f.Key, branches)
		case "ui:options":
			if details := f.Value.Get("details").Str(); details != "" {
				describeWhole(out, details)
			}
			if rest := without(f.Value, "details"); rest.Len() > 0 {
				add(out, f.Key, rest)
			}
		default:
			add(out, f.Key, f.Value)
		}
	}
	return out
}

// misread reports choices and defaults that Backstage writes without quotes, as YAML 1.2
// allows, and that readers of YAML 1.1 such as kubectl take for booleans and numbers.
func (c *compiler) misread(s *tree.Node) {
	values := append(slices.Clone(s.Get("enum").List()), s.Get("default"))
	if i := slices.IndexFunc(values, func(n *tree.Node) bool { return n.IsString() && untyped11.MatchString(n.Text) }); i >= 0 {
		text := values[i]
		c.note(RuleMisread, text.Pos, "value "+strconv.Quote(text.Text)+" is written without quotes by Backstage, and kubectl reads it as a boolean or a number",
			"offer another value, or use delivery: portal with the package for Backstage")
	}
	for _, f := range s.Fields {
		if f.Key == "enum" || f.Key == "default" {
			continue
		}
		c.misread(f.Value)
	}
	for _, it := range s.Items {
		c.misread(it)
	}
}

// untyped11 matches texts that are not texts in YAML 1.1.
var untyped11 = regexp.MustCompile(`^(?:[yY]|[yY]es|YES|[nN]|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|[-+]?[0-9][0-9.]*_[0-9_.]*)$`)

// describeWhole adds the rest of a description.
func describeWhole(out *tree.Node, details string) {
	text := details
	if first := out.Get("description").Str(); first != "" {
		text = first + "\n\n" + details
	}
	out.Set("description", tree.Str(text))
}

// mostConditions is how many conditions between its fields an optional object may have;
// with more, the cluster checks what is required.
const mostConditions = 10_000

// relax lets an optional object be empty: a browser marks the required fields of an
// absent object, too, and then refuses to go on. Fields are required as soon as another
// is filled in. A choice between required fields becomes a description, because a
// selected choice requires its fields; other conditions are left to the cluster.
func relax(out *tree.Node) {
	props := out.Get("properties")
	for _, key := range [...]string{"oneOf", "anyOf"} {
		branches := out.Get(key)
		if !slices.ContainsFunc(branches.List(), func(b *tree.Node) bool { return b.Has("required") }) {
			continue
		}
		var titles []string
		for _, b := range branches.Items {
			for _, p := range b.Get("properties").Fields {
				if !props.Has(p.Key) {
					add(props, p.Key, p.Value)
				}
			}
			if title := b.Get("title").Str(); title != "" {
				titles = append(titles, title)
			}
		}
		out.Delete(key)
		if len(titles) > 1 {
			describe(out, map[string]string{"oneOf": "Set exactly one: ", "anyOf": "Set at least one: "}[key]+strings.Join(titles, "; ")+".")
		}
	}
	if all := out.Get("allOf"); all != nil {
		kept := slices.DeleteFunc(slices.Clone(all.Items), func(b *tree.Node) bool { return !b.Has("if") })
		out.Delete("allOf")
		if len(kept) > 0 {
			add(out, "allOf", tree.Arr(kept...))
		}
	}
	required := out.Get("required").Strings()
	if len(required) == 0 {
		return
	}
	out.Delete("required")
	if len(required)*len(props.Fields) > mostConditions {
		return
	}
	conditions := tree.Obj()
	for _, p := range props.Fields {
		if complexType(p.Value) {
			// A browser adds an untouched list by itself.
			continue
		}
		others := slices.DeleteFunc(slices.Clone(required), func(name string) bool { return name == p.Key })
		for _, more := range out.Get("dependencies", p.Key).Strings() {
			if !slices.Contains(others, more) {
				others = append(others, more)
			}
		}
		if len(others) > 0 {
			add(conditions, p.Key, tree.Strs(others))
		}
	}
	if len(conditions.Fields) > 0 {
		out.Set("dependencies", conditions)
	}
}

// givenValues returns the expressions for parameters that leave out what Backstage adds by
// itself, by the expressions that they replace.
func givenValues(pages *tree.Node) map[string]string {
	values := map[string]string{}
	for _, page := range pages.Items {
		required := members(page.Get("required"))
		for _, f := range choosable(page) {
			if addsItself(f.Value, 0) {
				values[expression(f.Key)] = evaluate(given(reference(f.Key), f.Value, required.has(f.Key), 0))
			}
		}
	}
	return values
}

// givenIn returns n with its texts replaced.
func givenIn(n *tree.Node, values map[string]string) *tree.Node {
	switch {
	case n.IsString():
		if to, ok := values[n.Text]; ok {
			return tree.Str(to)
		}
	case n.IsList():
		out := tree.Arr()
		for _, it := range n.Items {
			out.Items = append(out.Items, givenIn(it, values))
		}
		return out
	case n.IsMap():
		out := tree.Obj()
		for _, f := range n.Fields {
			add(out, f.Key, givenIn(f.Value, values))
		}
		return out
	}
	return n
}

// given returns the expression for the value of a schema, without what a stock portal
// adds to an untouched form: empty lists, and optional objects with nothing else in them.
// ref is the expression for the value as it is sent.
func given(ref string, s *tree.Node, needed bool, depth int) string {
	if !addsItself(s, depth) {
		return ref
	}
	value := ref
	if s.Has("properties") {
		var fields []string
		required := members(s.Get("required"))
		for _, f := range choosable(s) {
			fields = append(fields, quoted(f.Key)+": "+given(member(ref, f.Key), f.Value, required.has(f.Key), depth+1))
		}
		// Two closing braces in a row would end the expression.
		value = "{ " + strings.Join(fields, ", ") + " }"
	}
	if needed {
		return value
	}
	return "(" + value + " if " + filledIn(ref, s, depth) + " else undefined)"
}

// filledIn returns the condition under which a value was filled in.
func filledIn(ref string, s *tree.Node, depth int) string {
	switch {
	case !complexType(s):
		return ref + " is defined"
	case !s.Has("properties") || !addsItself(s, depth):
		return ref + " | length"
	}
	var parts []string
	for _, f := range choosable(s) {
		parts = append(parts, filledIn(member(ref, f.Key), f.Value, depth+1))
	}
	return "(" + strings.Join(parts, " or ") + ")"
}

// addsItself reports whether a stock portal adds a value to an untouched form: a list, or
// an object with a list in it. A list that has a default is what the user sees. A form of
// ours is not deeper than maxDepth.
func addsItself(s *tree.Node, depth int) bool {
	if depth > maxDepth || s.Has("default") || s.Has("properties") && s.Get("additionalProperties").IsTrue() {
		return false
	}
	return typeOf(s) == "array" || slices.ContainsFunc(choosable(s), func(f tree.Field) bool { return addsItself(f.Value, depth+1) })
}

// choosable returns the properties of an object, with those of its choices.
func choosable(s *tree.Node) []tree.Field {
	props := s.Get("properties")
	if !props.IsMap() {
		return nil
	}
	all := props.Fields
	for _, b := range s.Get("oneOf").List() {
		if own := b.Get("properties"); own.IsMap() {
			all = append(slices.Clip(all), own.Fields...)
		}
	}
	return all
}

// openEditor returns the schema of a YAML field as Backstage's own editors can show it:
// keys and values, each of which the user gives a type.
func openEditor(s *tree.Node) *tree.Node {
	out := without(s, "ui:field")
	if s.Get("type").Len() > 2 {
		// The value may be anything, not only of one type or null.
		out = without(out, "type", "items", "additionalProperties")
		add(out, "anyOf", openValues(openDepth))
		return out
	}
	if s.Has("items") {
		out.Set("items", openValue(openDepth))
		return out
	}
	out.Set("additionalProperties", openValue(openDepth))
	return out
}

// openDepth is how deep the values of a YAML field can be entered without a field for
// YAML.
const openDepth = 2

// openValue returns the schema of a value that may be anything.
func openValue(depth int) *tree.Node { return tree.Obj(tree.F("anyOf", openValues(depth))) }

// openValues returns the alternatives of a value that may be anything.
func openValues(depth int) *tree.Node {
	inner := func() *tree.Node {
		if depth == 0 {
			return yes
		}
		return openValue(depth - 1)
	}
	of := func(title, typ string, more ...tree.Field) *tree.Node {
		return tree.Obj(append([]tree.Field{tree.F("title", tree.Str(title)), tree.F("type", tree.Str(typ))}, more...)...)
	}
	items := inner()
	if depth == 0 {
		items = tree.Obj()
	}
	return tree.Arr(
		of("Text", "string"), of("Number", "number"), of("Yes or no", "boolean"),
		of("Fields", "object", tree.F("additionalProperties", inner())), of("List", "array", tree.F("items", items)),
		of("None", "null"),
	)
}
