package form

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// setting is one field of spec that configures Crossplane: a parameter of the Crossplane
// page or, if the whole of spec is one parameter, a property inside it.
type setting struct {
	param string
	// path is the path of the value below spec, or below spec.crossplane for v2
	// definitions.
	path   []string
	schema *tree.Node
}

// settings returns the Crossplane settings that the definition exposes, in page order.
// It depends only on the definition, never on how many Compositions are known.
func (c *compiler) settings() []setting {
	d := c.def
	var out []setting
	if d.EnforcedComposition == "" {
		out = append(out,
			setting{paramComposition, []string{"compositionRef", "name"}, c.compositionName()},
			setting{paramSelector, []string{"compositionSelector", "matchLabels"}, labels("Composition labels", "Labels that select the Composition, instead of its name")},
		)
	}
	secret := c.secretSettings()
	if len(d.ConnectionSecretKeys) > 0 {
		out = append(out, secret...)
		secret = nil
	}
	out = append(out,
		setting{paramUpdatePolicy, []string{"compositionUpdatePolicy"}, advanced(tree.Obj(
			tree.F("title", tree.Str("Update policy")),
			tree.F("description", tree.Str("Whether new revisions of the Composition are used automatically")),
			tree.F("type", typeNodes["string"]),
			tree.F("enum", tree.Strs([]string{"Automatic", "Manual"})),
			tree.F("default", tree.OptStr(d.DefaultUpdatePolicy)),
		))},
		setting{paramRevision, []string{"compositionRevisionRef", "name"}, advanced(objectName("Composition revision", "Revision of the Composition to stay on; needs the update policy Manual"))},
		setting{paramRevisionSelector, []string{"compositionRevisionSelector", "matchLabels"}, advanced(labels("Composition revision labels", "Labels that select the revisions to use"))},
	)
	for _, s := range secret {
		out = append(out, setting{s.param, s.path, advanced(s.schema)})
	}
	if c.target.Claim {
		out = append(out, setting{paramDeletePolicy, []string{"compositeDeletePolicy"}, advanced(tree.Obj(
			tree.F("title", tree.Str("Delete policy")),
			tree.F("description", tree.Str("Foreground waits until everything the "+c.target.Kind+" is made of is deleted; Background does not")),
			tree.F("type", typeNodes["string"]),
			tree.F("enum", tree.Strs([]string{"Background", "Foreground"})),
			tree.F("default", tree.OptStr(d.DefaultDeletePolicy)),
		))})
	}
	return out
}

// compositionName returns the schema for selecting a Composition: one of the known ones,
// or any name if none is known.
func (c *compiler) compositionName() *tree.Node {
	known, proposed := c.opts.Compositions, c.def.DefaultComposition
	out := objectName("Composition", "How the "+c.target.Kind+" is made")
	if len(known) > 0 {
		out = tree.Obj(
			tree.F("title", out.Get("title")),
			tree.F("description", out.Get("description")),
			tree.F("type", typeNodes["string"]),
			tree.F("enum", tree.Strs(known)),
		)
	}
	if proposed != "" && (len(known) == 0 || slices.Contains(known, proposed)) {
		add(out, "default", tree.Str(proposed))
	}
	return out
}

// mustChoose reports whether Crossplane could otherwise only pick a Composition at
// random.
func (c *compiler) mustChoose() bool {
	return len(c.opts.Compositions) > 1 && c.def.DefaultComposition == "" && c.def.EnforcedComposition == ""
}

// secretSettings returns the settings for the connection secret, which v1 composites and
// claims have. A composite is cluster-scoped, so it must specify the namespace of its
// Secret.
func (c *compiler) secretSettings() []setting {
	if c.def.Modern() {
		return nil
	}
	about := "Name of the Secret that connection details are written to"
	if keys := c.def.ConnectionSecretKeys; len(keys) > 0 {
		about += ": " + strings.Join(keys, ", ")
	}
	out := []setting{{paramSecret, []string{"writeConnectionSecretToRef", "name"}, objectName("Connection secret", about)}}
	if !c.target.Claim {
		out = append(out, setting{paramSecretNamespace, []string{"writeConnectionSecretToRef", "namespace"}, tree.Obj(
			tree.F("title", tree.Str("Connection secret namespace")),
			tree.F("description", tree.Str("Namespace of that Secret")),
			tree.F("type", typeNodes["string"]),
			tree.F("default", tree.OptStr(c.opts.Namespace)),
			tree.F("maxLength", labelLength),
			tree.F("pattern", labelPattern),
		)})
	}
	return out
}

// crossplanePage returns the page for the settings and puts their expressions into the
// manifest's spec. It returns nil if the parameter spec already contains the settings.
func (c *compiler) crossplanePage(spec *tree.Node) *tree.Node {
	if !c.opts.CompositionDetails || !spec.IsMap() {
		return nil
	}
	settings := c.settings()
	props := tree.Obj()
	for _, s := range settings {
		add(props, s.param, s.schema)
	}
	page := tree.Obj(tree.F("title", tree.Str("Crossplane")))
	if c.def.EnforcedComposition != "" {
		add(page, "description", tree.Str(c.enforced()))
	}
	add(page, "properties", props)
	if c.mustChoose() {
		chooseBy(page, paramSelector, paramComposition)
	}
	keys, parts := c.expressions(settings)
	if c.def.Modern() {
		spec.Set(xrd.MachineryV2, tree.Str(evaluate(anyOf(keys, parts, settings))))
		return page
	}
	for i, key := range keys {
		spec.Set(key, tree.Str(evaluate(parts[i])))
	}
	return page
}

func (c *compiler) enforced() string {
	return "Made by the Composition " + c.def.EnforcedComposition + "."
}

// chooseBy requires a Composition by name unless labels select it.
func chooseBy(out *tree.Node, selector, name string) {
	some := tree.Obj(tree.F(selector, tree.Obj(tree.F("minProperties", tree.Number(1)))))
	out.Set("if", tree.Obj(tree.F("required", tree.Strs([]string{selector})), tree.F("properties", some)))
	out.Set("else", tree.Obj(tree.F("required", tree.Strs([]string{name}))))
}

// expressions returns the fields of spec that the settings set, and for each the
// expression of its value. An object is omitted as a whole if its first parameter is
// absent: the API server would reject an empty reference.
func (c *compiler) expressions(settings []setting) (keys, parts []string) {
	for i := 0; i < len(settings); i++ {
		s := settings[i]
		keys = append(keys, s.path[0])
		if len(s.path) == 1 {
			parts = append(parts, reference(s.param))
			continue
		}
		pairs := []string{s.path[1], s.param}
		for i+1 < len(settings) && settings[i+1].path[0] == s.path[0] {
			i++
			pairs = append(pairs, settings[i].path[1], settings[i].param)
		}
		unless := ""
		if s.param == paramComposition && s.schema.Has("default") {
			// Labels entered by the user override a name that is only a default.
			unless = paramSelector
		}
		parts = append(parts, wrapped(unless, pairs...))
	}
	return keys, parts
}

// wrapped returns an expression for an object of keys and parameters. The object is
// undefined if the first parameter is absent, or if the parameter unless is present.
func wrapped(unless string, pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + pairs[i] + `": ` + reference(pairs[i+1]))
	}
	b.WriteString("} if " + reference(pairs[1]))
	if unless != "" {
		b.WriteString(" and not " + reference(unless))
	}
	b.WriteString(" else undefined")
	return b.String()
}

// anyOf returns an expression for an object of keys and expressions. The object is
// undefined if none of the settings is given.
func anyOf(keys, parts []string, settings []setting) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + key + `": ` + parts[i])
	}
	b.WriteString("} if ")
	for i, s := range settings {
		if i > 0 {
			b.WriteString(" or ")
		}
		b.WriteString(reference(s.param))
	}
	b.WriteString(" else undefined")
	return b.String()
}

// nested adds the settings to the schema of the whole spec, under their names in spec.
func (c *compiler) nested(spec *tree.Node) {
	if !c.opts.CompositionDetails {
		return
	}
	at := spec
	if c.def.Modern() {
		at = tree.Obj(tree.F("title", tree.Str("Crossplane")), tree.F("type", typeNodes["object"]), tree.F("properties", tree.Obj()))
		spec.Get("properties").Set(xrd.MachineryV2, advanced(at))
	}
	props := at.Get("properties")
	for _, s := range c.settings() {
		schema := without(s.schema, "default")
		if len(s.path) == 2 {
			holder := props.Get(s.path[0])
			if holder == nil {
				holder = advanced(tree.Obj(
					tree.F("title", tree.Str(Humanise(s.path[0]))),
					tree.F("type", typeNodes["object"]),
					tree.F("properties", tree.Obj()),
				))
				props.Set(s.path[0], holder)
			}
			schema.Delete("ui:options")
			holder.Get("properties").Set(s.path[1], schema)
			holder.Set("required", tree.Strs(append(holder.Get("required").Strings(), s.path[1])))
			continue
		}
		props.Set(s.path[0], advanced(schema))
	}
	if c.mustChoose() {
		chooseBy(at, "compositionSelector", "compositionRef")
		if at != spec {
			spec.Set("required", tree.Strs(append(spec.Get("required").Strings(), xrd.MachineryV2)))
		}
	}
}

// objectName returns the schema for the name of a cluster object.
func objectName(title, description string) *tree.Node {
	return tree.Obj(
		tree.F("title", tree.Str(title)),
		tree.F("description", tree.Str(description)),
		tree.F("type", typeNodes["string"]),
		tree.F("maxLength", tree.Number(253)),
		tree.F("pattern", namePattern),
	)
}

// labels returns the schema for labels of a selector.
func labels(title, description string) *tree.Node {
	return tree.Obj(
		tree.F("title", tree.Str(title)),
		tree.F("description", tree.Str(description)),
		tree.F("type", typeNodes["object"]),
		tree.F("additionalProperties", tree.Obj(tree.F("type", typeNodes["string"]))),
	)
}

// advanced moves a field into the section that is initially collapsed.
func advanced(schema *tree.Node) *tree.Node {
	schema.Set("ui:options", tree.Obj(tree.F("advanced", yes)))
	return schema
}
